// Guava's and Spark's filters as implementations: Originals FOLDER STRATEGY
import com.google.common.hash.Funnels;
import java.io.*;
import java.nio.*;
import java.nio.charset.StandardCharsets;

public class Originals {
    interface Reader<T> { T of(InputStream stream) throws IOException; }
    interface Writer { void to(OutputStream stream) throws IOException; }

    static <T> T read(byte[] bytes, Reader<T> reader) {
        try {
            return reader.of(new ByteArrayInputStream(bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
    static byte[] written(Writer writer) {
        try (ByteArrayOutputStream stream = new ByteArrayOutputStream()) {
            writer.to(stream);
            return stream.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
    static String text(byte[] value) { return new String(value, StandardCharsets.UTF_8); }
    static int words(long m) { return (int) ((m + 63) / 64); }

    // A funnel hashes its own type, so that a filter is read by each that it is asked with.
    static class Guava implements Vectors.Filter {
        byte[] bytes;
        Guava(byte[] bytes) { this.bytes = bytes; }

        interface Use<E> { boolean of(com.google.common.hash.BloomFilter<E> filter, E element); }
        <E> boolean use(com.google.common.hash.Funnel<? super E> funnel, E element, boolean add) {
            var filter = read(bytes, stream -> com.google.common.hash.BloomFilter.<E>readFrom(stream, funnel));
            boolean answer = add ? filter.put(element) : filter.mightContain(element);
            if (add) bytes = written(filter::writeTo);
            return answer;
        }
        boolean use(String etype, byte[] value, boolean add) {
            switch (etype) {
                case "text": return use(Funnels.stringFunnel(StandardCharsets.UTF_8), (CharSequence) text(value), add);
                case "text16": return use(Funnels.unencodedCharsFunnel(), (CharSequence) text(value), add);
                case "int4": return use(Funnels.integerFunnel(), Integer.valueOf(text(value)), add);
                case "int8": return use(Funnels.longFunnel(), Long.valueOf(text(value)), add);
                default: return use(Funnels.byteArrayFunnel(), value, add);
            }
        }
        public boolean contains(String etype, byte[] value) { return use(etype, value, false); }
        public boolean add(String etype, byte[] value) { use(etype, value, true); return true; }
        public byte[] bytes() { return bytes; }
    }

    static class Spark implements Vectors.Filter {
        final org.apache.spark.util.sketch.BloomFilter filter;
        Spark(byte[] bytes) { filter = read(bytes, org.apache.spark.util.sketch.BloomFilter::readFrom); }

        public boolean contains(String etype, byte[] value) {
            switch (etype) {
                case "text": return filter.mightContainString(text(value));
                case "bytea": return filter.mightContainBinary(value);
                default: return filter.mightContainLong(Long.parseLong(text(value)));
            }
        }
        public boolean add(String etype, byte[] value) {
            switch (etype) {
                case "text": filter.putString(text(value)); break;
                case "bytea": filter.putBinary(value); break;
                default: filter.putLong(Long.parseLong(text(value)));
            }
            return true;
        }
        public byte[] bytes() { return written(filter::writeTo); }
    }

    static class Implementation implements Vectors.Implementation {
        final String strategy;
        Implementation(String strategy) { this.strategy = strategy; }

        public byte[] empty(long m, int k) {
            ByteBuffer bytes = ByteBuffer.allocate(100 + 8 * words(m));
            switch (strategy) {
                case "spark1": bytes.putInt(1).putInt(k); break;
                case "spark2": bytes.putInt(2).putInt(k).putInt(0); break;
                default: bytes.put((byte) (strategy.equals("guava") ? 1 : 0)).put((byte) k);
            }
            return java.util.Arrays.copyOf(bytes.putInt(words(m)).array(), bytes.position() + 8 * words(m));
        }
        public Vectors.Filter open(byte[] bytes, long m, int k) {
            return strategy.startsWith("spark") ? new Spark(bytes) : new Guava(bytes);
        }
    }

    public static void main(String[] args) throws Exception {
        int[] counts = Vectors.check(new Implementation(args[1]), args[0], args[1]);
        System.out.printf("%d passed, %d failed, %d left out%n", counts[0], counts[1], counts[2]);
        System.exit(counts[1] > 0 ? 1 : 0);
    }
}
