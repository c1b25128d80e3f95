/*
 * What Guava itself takes: GuavaTimes TITLES ASKED, with Guava on the class path,
 * reads a line of a word and a probability at a time, and answers by nanoseconds of
 * the processor an element.
 *
 *     put P         into a filter for so many titles, those of data.sql
 *     contains P    asking that filter, for half of them being in it
 */
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.Map;
import java.util.Scanner;
import java.util.function.Predicate;

public class GuavaTimes {
    static final int CHUNK = 10000;
    static final int WARM_UP = 300000;
    static final char[] HEX = "0123456789abcdef".toCharArray();
    static final Map<String, BloomFilter<CharSequence>> filters = new HashMap<>();
    static int found;

    static String md5(MessageDigest digest, String text) {
        char[] hex = new char[32];
        int at = 0;
        for (byte b : digest.digest(text.getBytes(StandardCharsets.UTF_8))) {
            hex[at++] = HEX[b >> 4 & 15];
            hex[at++] = HEX[b & 15];
        }
        return new String(hex);
    }

    /** Calls work with each title; only these calls are timed, the titles being made before, a chunk at a time. */
    static double each(int n, boolean asked, Predicate<CharSequence> work) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("MD5");
        String[] titles = new String[CHUNK];
        long taken = 0;
        for (int from = 1; from <= n; from += CHUNK) {
            int size = Math.min(CHUNK, n - from + 1);
            for (int j = 0; j < size; j++) {
                int i = from + j;
                titles[j] = "Title " + md5(digest, Integer.toString(i)) + " number " + (asked && i % 2 == 0 ? 0 : i);
            }
            long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
            for (int j = 0; j < size; j++) {
                if (work.test(titles[j])) {
                    found++;
                }
            }
            taken += ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start;
        }
        return (double) taken / n;
    }

    static double put(int n, String p) throws Exception {
        filters.put(p, BloomFilter.create(Funnels.stringFunnel(StandardCharsets.UTF_8), n, Double.parseDouble(p)));
        return each(n, false, filters.get(p)::put);
    }

    static double contains(int n, int asked, String p) throws Exception {
        if (!filters.containsKey(p)) {
            put(n, p);
        }
        return each(asked, true, filters.get(p)::mightContain);
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        int asked = Integer.parseInt(args[1]);
        put(WARM_UP, "0.02");
        contains(WARM_UP, WARM_UP, "0.02");
        Scanner in = new Scanner(System.in);
        while (in.hasNext()) {
            String word = in.next();
            String p = in.next();
            System.out.println(word.equals("put") ? put(n, p) : contains(n, asked, p));
        }
    }
}
