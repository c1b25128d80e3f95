/*
 * Round trip between real Guava and bloomext, driven by test/t/interop/guava.pl.
 *
 * Usage, with Guava on the class path:
 *     java GuavaRoundTrip.java write DIR SEED
 *     java GuavaRoundTrip.java check DIR
 *
 * `write` makes filters of random elements and writes, under DIR,
 *     java.tsv      id strategy funnel n p k bits filter(hex): one row a filter
 *     elements.tsv  id seq part value(hex or decimal) expected:
 *                   part a and b are the halves of the filter, probe what was
 *                   not inserted; expected is mightContain of the whole filter
 *     union.tsv     id a(hex) b(hex) union(hex): the halves and their putAll
 *
 * `check` reads, under DIR, what SQL made of the same elements,
 *     sql.tsv       id filter(hex) union(hex)
 * reads both with BloomFilter.readFrom, compares them with Guava's own, probes
 * them with every element, and prints one line for each disagreement, then
 * "N filters, N probes, N disagreements".
 *
 * The strategy is not part of Guava's public interface for choosing one; it is
 * set through the stream's first byte, which readFrom honours.
 */
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import com.google.common.io.BaseEncoding;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

public class GuavaRoundTrip {
    static final String[] FUNNELS = {"utf8", "utf16", "int", "long", "bytes"};
    static final String[] STRATEGIES = {"guava32", "guava"}; // by ordinal
    static final int[] SIZES = {1, 10, 100, 1000, 20000};
    static final double[] FPPS = {0.3, 0.03, 0.001};
    static final BaseEncoding HEX = BaseEncoding.base16().lowerCase();

    @SuppressWarnings("unchecked")
    static Funnel<Object> funnel(String name) {
        Map<String, Funnel<?>> funnels = Map.of(
            "utf8", Funnels.stringFunnel(StandardCharsets.UTF_8),
            "utf16", Funnels.unencodedCharsFunnel(),
            "int", Funnels.integerFunnel(),
            "long", Funnels.longFunnel(),
            "bytes", Funnels.byteArrayFunnel());
        return (Funnel<Object>) funnels.get(name);
    }

    static String randomText(Random random) {
        StringBuilder text = new StringBuilder();
        int length = random.nextInt(40);
        while (text.length() < length) {
            int kind = random.nextInt(8);
            text.appendCodePoint(kind == 0 ? 0x80 + random.nextInt(0x780)
                : kind == 1 ? 0x4e00 + random.nextInt(0x5000)
                : kind == 2 ? 0x1f300 + random.nextInt(0x300)
                : 0x20 + random.nextInt(0x5f));
        }
        return text.toString();
    }

    static Object randomElement(String funnel, Random random) {
        switch (funnel) {
            case "utf8":
            case "utf16":
                return randomText(random);
            case "int":
                return random.nextInt() >> random.nextInt(32);
            case "long":
                return random.nextLong() >> random.nextInt(64);
            default:
                byte[] bytes = new byte[random.nextInt(50)];
                random.nextBytes(bytes);
                return bytes;
        }
    }

    static String show(Object element) {
        if (element instanceof String)
            return HEX.encode(((String) element).getBytes(StandardCharsets.UTF_8));
        if (element instanceof byte[])
            return HEX.encode((byte[]) element);
        return element.toString();
    }

    static Object parse(String funnel, String value) {
        switch (funnel) {
            case "utf8":
            case "utf16":
                return new String(HEX.decode(value), StandardCharsets.UTF_8);
            case "int":
                return Integer.valueOf(value);
            case "long":
                return Long.valueOf(value);
            default:
                return HEX.decode(value);
        }
    }

    static byte[] bytes(BloomFilter<Object> filter) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        filter.writeTo(out);
        return out.toByteArray();
    }

    static BloomFilter<Object> read(byte[] bytes, String funnel) throws IOException {
        return BloomFilter.readFrom(new ByteArrayInputStream(bytes), funnel(funnel));
    }

    static BloomFilter<Object> create(int ordinal, String funnel, int n, double p) throws IOException {
        byte[] empty = bytes(BloomFilter.create(funnel(funnel), n, p));
        empty[0] = (byte) ordinal;
        return read(empty, funnel);
    }

    static void write(Path dir, long seed) throws IOException {
        Random random = new Random(seed);
        try (PrintWriter filters = new PrintWriter(dir.resolve("java.tsv").toFile(), "UTF-8");
                PrintWriter elements = new PrintWriter(dir.resolve("elements.tsv").toFile(), "UTF-8");
                PrintWriter unions = new PrintWriter(dir.resolve("union.tsv").toFile(), "UTF-8")) {
            int id = 0;
            for (int ordinal = 0; ordinal < 2; ordinal++) {
                for (String funnel : FUNNELS) {
                    for (int n : SIZES) {
                        double p = FPPS[random.nextInt(FPPS.length)];
                        writeOne(++id, ordinal, funnel, n, p, random, filters, elements, unions);
                    }
                }
            }
        }
    }

    static void writeOne(int id, int ordinal, String funnel, int n, double p, Random random,
            PrintWriter filters, PrintWriter elements, PrintWriter unions) throws IOException {
        BloomFilter<Object> a = create(ordinal, funnel, n, p);
        BloomFilter<Object> b = create(ordinal, funnel, n, p);
        BloomFilter<Object> whole = create(ordinal, funnel, n, p);
        List<Object> all = new ArrayList<>();
        List<String> parts = new ArrayList<>();
        int inserted = 1 + random.nextInt(n);
        int probes = Math.min(2000, 20 + n);

        for (int i = 0; i < inserted + probes; i++) {
            Object element = randomElement(funnel, random);
            String part = i >= inserted ? "probe" : random.nextBoolean() ? "a" : "b";
            all.add(element);
            parts.add(part);
            if (part.equals("a"))
                a.put(element);
            if (part.equals("b"))
                b.put(element);
            if (!part.equals("probe"))
                whole.put(element);
        }
        byte[] stream = bytes(whole);
        filters.printf("%d\t%s\t%s\t%d\t%s\t%d\t%d\t%s\n", id, STRATEGIES[ordinal], funnel, n, p,
                stream[1] & 0xff, (stream.length - 6) * 8L, HEX.encode(stream));
        for (int i = 0; i < all.size(); i++)
            elements.printf("%d\t%d\t%s\t%s\t%s\n", id, i, parts.get(i), show(all.get(i)),
                    whole.mightContain(all.get(i)) ? "t" : "f");
        String halfA = HEX.encode(bytes(a));
        a.putAll(b);
        unions.printf("%d\t%s\t%s\t%s\n", id, halfA, HEX.encode(bytes(b)), HEX.encode(bytes(a)));
    }

    static List<String[]> rows(Path file) throws IOException {
        List<String[]> rows = new ArrayList<>();
        for (String line : Files.readAllLines(file))
            rows.add(line.split("\t", -1));
        return rows;
    }

    static void check(Path dir) throws IOException {
        Map<String, String[]> filters = new HashMap<>();
        Map<String, BloomFilter<Object>> fromSql = new HashMap<>();
        Map<String, BloomFilter<Object>> unionFromSql = new HashMap<>();
        long disagreements = 0;
        long probes = 0;

        for (String[] row : rows(dir.resolve("java.tsv")))
            filters.put(row[0], row);
        for (String[] row : rows(dir.resolve("sql.tsv"))) {
            String[] java = filters.get(row[0]);
            BloomFilter<Object> own = read(HEX.decode(java[7]), java[2]);
            fromSql.put(row[0], read(HEX.decode(row[1]), java[2]));
            unionFromSql.put(row[0], read(HEX.decode(row[2]), java[2]));
            if (!fromSql.get(row[0]).equals(own)) {
                System.out.println("filter " + row[0] + " differs");
                disagreements++;
            }
            if (!unionFromSql.get(row[0]).equals(own)) {
                System.out.println("union " + row[0] + " differs");
                disagreements++;
            }
        }
        for (String[] row : rows(dir.resolve("elements.tsv"))) {
            Object element = parse(filters.get(row[0])[2], row[3]);
            boolean expected = row[4].equals("t");
            probes++;
            if (fromSql.get(row[0]).mightContain(element) != expected
                    || unionFromSql.get(row[0]).mightContain(element) != expected) {
                System.out.println("probe " + row[0] + " " + row[1] + " differs");
                disagreements++;
            }
        }
        System.out.println(fromSql.size() + " filters, " + probes + " probes, " + disagreements + " disagreements");
    }

    public static void main(String[] args) throws IOException {
        if (args.length == 3 && args[0].equals("write"))
            write(Path.of(args[1]), Long.parseLong(args[2]));
        else if (args.length == 2 && args[0].equals("check"))
            check(Path.of(args[1]));
        else {
            System.err.println("usage: GuavaRoundTrip write DIR SEED | check DIR");
            System.exit(2);
        }
    }
}
