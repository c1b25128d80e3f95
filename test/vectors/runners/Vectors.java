// Tests an implementation against the vectors: what it is to offer is said in ../README.md.
import java.util.*; import java.util.stream.*;
public class Vectors {
    interface Filter { boolean contains(String etype, byte[] value); boolean add(String etype, byte[] value); byte[] bytes(); }
    interface Implementation { byte[] empty(long m, int k); Filter open(byte[] bytes, long m, int k); }
    static final Map<String, int[]> ORDERS = Map.of("write_to_hex", new int[] {64, 7, 0}, "stream_hex", new int[] {8, 0, 0},
        "bits_lsb_hex", new int[] {8, 0, 0}, "redis_hex", new int[] {8, 0, 7}); // bits of a unit, and which way round bytes and bits are
    record Row(Map<String, String> cells) {
        String cell(String... names) { return Stream.of(names).map(cells::get).filter(Objects::nonNull).findFirst().orElse(""); }
        long m() { return cells.containsKey("blocks") ? 256 * Long.parseLong(cell("blocks")) : Long.parseLong(cell("bit_size", "m", "size", "bits")); }
        int k() { return cells.containsKey("blocks") ? 8 : Integer.parseInt(cell("k", "hash_iterations")); }
        boolean fits(String strategy) { return m() > 0 && m() <= 1 << 20 && cells.getOrDefault("seed", "0").equals("0") && strategy.endsWith(cell("version")); }
        boolean has(Row x) { return cell("filter_id").equals(x.cell("filter_id")); }
        byte[] value() {
            String[] x = (cell("etype") + ":" + cell("value")).split(":", -1);
            if (!String.join(":", x).matches("int[48]:-?[0-9]+|(text|text16|bytea|uuid):(rep:[0-9]+:)?[0-9a-f]*")) throw new IllegalArgumentException(x[1]);
            return x[0].startsWith("int") ? x[1].getBytes() : HexFormat.of().parseHex(x.length < 3 ? x[1] : x[3].repeat(Integer.parseInt(x[2])));
        }
        String in(Filter filter) { return filter.contains(cell("etype"), value()) ? "1" : "0"; }
        void set(byte[] b, int i, int[] o) { b[b.length - ((int) m() + o[0] - 1) / o[0] * o[0] / 8 + (i / 8 ^ o[1])] |= 1 << (i % 8 ^ o[2]); }
    }
    static List<Row> rows(String folder, String name) throws Exception {
        var lines = java.nio.file.Files.readAllLines(java.nio.file.Path.of(folder, name + ".tsv")).stream().map(line -> List.of(line.split("\t", -1))).toList();
        return IntStream.rangeClosed(1, Math.max(1, lines.size() - 1)).mapToObj(n -> new Row(IntStream.range(0, // no rows, or cells: an error
            Math.max(lines.get(n).size(), lines.get(0).size())).boxed().collect(Collectors.toMap(lines.get(0)::get, lines.get(n)::get)))).toList();
    }
    static int[] check(Implementation implementation, String folder, String strategy) throws Exception {
        int[] counts = new int[3]; // how many agree, how many do not, and how many are left out
        List<Row> filters = rows(folder, "filters"), inserted = rows(folder, "filter_elements"), probes = rows(folder, "probes");
        String kind = ORDERS.keySet().stream().filter(filters.get(0).cells::containsKey).findFirst().get();
        var elements = rows(folder, "hashing").stream().collect(Collectors.toMap(row -> row.cell("elem_id"), row -> row, (a, b) -> b));
        for (List<Row> all : List.of(inserted, probes)) for (Row x : all) if (filters.stream().noneMatch(x::has)) counts[1]++;
        for (Row row : rows(folder, "positions")) {
            if (!row.fits(strategy)) { counts[row.cell("version").matches("[12]?") ? 2 : 1]++; continue; }
            int[] positions = Stream.of(row.cell("positions").split(",")).mapToInt(Integer::parseInt).toArray();
            boolean agrees = IntStream.range(-1, positions.length).allMatch(missing -> { // none, and each
                byte[] bytes = implementation.empty(row.m(), row.k());
                for (int i : positions) if (missing < 0 || i != positions[missing]) row.set(bytes, i, ORDERS.get(kind));
                return elements.get(row.cell("elem_id")).in(implementation.open(bytes, row.m(), row.k())).equals(missing < 0 ? "1" : "0");
            });
            counts[agrees && positions.length == row.k() ? 0 : 1]++;
        }
        for (Row row : filters) {
            if (!row.fits(strategy)) { counts[row.cell("version").matches("[12]?") ? 2 : 1]++; continue; }
            byte[] empty = implementation.empty(row.m(), row.k()), before = empty;
            byte[] bytes = Arrays.copyOf(new Row(Map.of("etype", "bytea", "value", row.cell(kind))).value(), empty.length);
            Filter full = implementation.open(bytes, row.m(), row.k()), made = implementation.open(empty, row.m(), row.k());
            boolean adds = false; int seq = 0;
            for (Row x : inserted.stream().filter(row::has).toList()) {
                String unlike = x.in(x.cell("add_result").isEmpty() ? made : implementation.open(before, row.m(), row.k() - 1)); // Redisson's
                String changed = x.cells.size() > 4 ? x.cell("put_result", "add_result", "changed") : unlike.equals("1") ? "0" : "1";
                if (adds = made.add(x.cell("etype"), x.value())) before = made.bytes();
                boolean right = x.in(full).equals("1") && x.cell("seq").equals("" + ++seq) && changed.matches("[01]");
                counts[right && !(adds && changed.equals(unlike)) ? 0 : 1]++;
            }
            BitSet differing = BitSet.valueOf(bytes); differing.xor(BitSet.valueOf(empty)); // in the head, too
            counts[row.cell("bit_count").equals("" + differing.cardinality()) && (!adds || Arrays.equals(before, bytes)) ? 0 : 1]++;
            for (Row x : probes.stream().filter(row::has).toList()) counts[x.cell("contains_all_k", "might_contain", "present", "contains").equals(x.in(full)) ? 0 : 1]++;
        }
        return counts; } }
