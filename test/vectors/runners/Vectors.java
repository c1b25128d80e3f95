// Tests an implementation against the vectors: what it is to offer is said in ../README.md.
import java.util.*;
import java.util.stream.*;

public class Vectors {
    interface Filter { boolean contains(String etype, byte[] value); boolean add(String etype, byte[] value); byte[] bytes(); }
    interface Implementation { byte[] empty(long m, int k); Filter open(byte[] bytes, long m, int k); }
    static final int LARGEST = 1 << 20; // bits of a filter that is made here; what has more, or a seed, is left out
    static String kind; // the column of filters.tsv that has them, which says the order of bits
    record Row(Map<String, String> cells) {
        String cell(String... names) { return Stream.of(names).map(cells::get).filter(Objects::nonNull).findFirst().orElse(""); }
        long m() { return cells.containsKey("blocks") ? 256 * Long.parseLong(cell("blocks")) : Long.parseLong(cell("bit_size", "m", "size", "bits")); }
        int k() { return cells.containsKey("blocks") ? 8 : Integer.parseInt(cell("k", "hash_iterations")); }
        boolean fits() { return m() > 0 && m() <= LARGEST && cells.getOrDefault("seed", "0").equals("0") && !cell(kind).startsWith("sha256:"); }
        boolean has(Row x) { return cell("filter_id").equals(x.cell("filter_id")); }
        String etype() { return cells.getOrDefault("etype", "text"); }
        static byte[] unhex(String... x) { return HexFormat.of().parseHex(x.length < 3 ? x[0] : x[2].repeat(Integer.parseInt(x[1]))); }
        byte[] value() { return etype().startsWith("int") ? cell("value").getBytes() : unhex(cell("value").split(":")); }
        boolean in(Filter filter) { return filter.contains(etype(), value()); }
        void set(byte[] bytes, int i) {
            int at = kind.equals("write_to_hex") ? i / 64 * 8 + 7 - i % 64 / 8 - (int) (m() + 63) / 64 * 8 : i / 8 - (int) (m() + 7) / 8;
            bytes[bytes.length + at] |= kind.equals("redis_hex") ? 128 >> i % 8 : 1 << i % 8;
        }
    }
    static List<Row> rows(String folder, String name, String strategy) throws Exception {
        var lines = java.nio.file.Files.readAllLines(java.nio.file.Path.of(folder, name + ".tsv")).stream().map(line -> List.of(line.split("\t", -1))).toList();
        var all = lines.stream().map(line -> new Row(IntStream.range(0, line.size()).boxed().collect(Collectors.toMap(lines.get(0)::get, line::get))));
        return all.skip(1).filter(row -> strategy.endsWith(row.cell("version"))).toList();
    }
    static int[] check(Implementation implementation, String folder, String strategy) throws Exception {
        int[] counts = new int[3]; // how many agree, how many do not, and how many are left out
        List<Row> filters = rows(folder, "filters", strategy), inserted = rows(folder, "filter_elements", strategy), probes = rows(folder, "probes", strategy);
        kind = Stream.of("write_to_hex", "stream_hex", "bits_lsb_hex", "redis_hex").filter(filters.get(0).cells::containsKey).findFirst().get();
        var elements = rows(folder, "hashing", strategy).stream().collect(Collectors.toMap(row -> row.cell("elem_id"), row -> row, (a, b) -> b));
        for (Row row : rows(folder, "positions", strategy)) {
            if (!row.fits()) { counts[2]++; continue; }
            int[] positions = Stream.of(row.cell("positions").split(",")).mapToInt(Integer::parseInt).distinct().toArray();
            boolean agrees = IntStream.range(-1, positions.length).allMatch(missing -> { // none, and each
                byte[] bytes = implementation.empty(row.m(), row.k());
                for (int i = 0; i < positions.length; i++) if (i != missing) row.set(bytes, positions[i]);
                return elements.get(row.cell("elem_id")).in(implementation.open(bytes, row.m(), row.k())) == missing < 0;
            });
            counts[agrees ? 0 : 1]++;
        }
        for (Row row : filters) {
            if (!row.fits()) { counts[2]++; continue; }
            byte[] empty = implementation.empty(row.m(), row.k()), bytes = Arrays.copyOf(Row.unhex(row.cell(kind)), empty.length);
            Filter full = implementation.open(bytes, row.m(), row.k()), made = implementation.open(empty, row.m(), row.k());
            boolean agrees = BitSet.valueOf(bytes).cardinality() - BitSet.valueOf(empty).cardinality() == Integer.parseInt(row.cell("bit_count")), adds = false;
            for (Row x : inserted.stream().filter(row::has).toList()) {
                String unlike = x.in(made) ? "1" : "0"; // what is in a filter does not change it
                adds = made.add(x.etype(), x.value());
                counts[x.in(full) && !(adds && x.cell("put_result", "changed").equals(unlike)) ? 0 : 1]++;
            }
            counts[agrees && (!adds || Arrays.equals(made.bytes(), bytes)) ? 0 : 1]++;
            for (Row x : probes.stream().filter(row::has).toList()) counts[x.cell("contains_all_k", "might_contain", "present", "contains").equals(x.in(full) ? "1" : "0") ? 0 : 1]++;
        }
        return counts;
    }
}
