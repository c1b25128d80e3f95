// Tests an implementation against the vectors: what it is to offer is said in ../README.md.
package main
import ("bytes"; "encoding/hex"; "math/bits"; "os"; "strconv"; "strings")

type filter interface { contains(etype string, value []byte) bool; add(etype string, value []byte) bool; bytes() []byte }
type implementation interface { empty(m, k uint64) []byte; open(stream []byte, m, k uint64) filter }
type row map[string]string
func must[T any](value T, err error) T { if err != nil { panic(err) }; return value }
func unhex(x string) []byte { if rep := strings.Split(x, ":"); len(rep) == 3 { return bytes.Repeat(unhex(rep[2]), must(strconv.Atoi(rep[1]))) }; return must(hex.DecodeString(x)) }
func ones(stream []byte) (sum uint64) { for _, b := range stream { sum += uint64(bits.OnesCount8(b)) }; return }
func (r row) cell(names ...string) string { for _, name := range names { if value, there := r[name]; there { return value } }; return "" }
func (r row) number(names ...string) uint64 { return must(strconv.ParseUint(r.cell(names...), 10, 64)) }
func (r row) m() uint64 { if r["blocks"] != "" { return 256 * r.number("blocks") }; return r.number("bit_size", "m", "size", "bits") }
func (r row) k() uint64 { return r.number("hash_iterations", "k") }
func (r row) fits(kind string) bool { return r.m() > 0 && r.m() <= 1<<20 && strings.Trim(r["seed"], "0") == "" && !strings.HasPrefix(r[kind], "sha256:") }
func (r row) value() []byte { if strings.HasPrefix(r["etype"], "int") { return []byte(r["value"]) }; return unhex(r["value"]) }
func (r row) in(f filter) string { if f.contains(r["etype"], r.value()) { return "1" }; return "0" }
func (r row) set(stream []byte, kind string, i int) {
	at, mask := i/8-int(r.m()+7)/8, byte(1)<<(i%8)
	if kind == "write_to_hex" { at = i/64*8 + 7 - i%64/8 - int(r.m()+63)/64*8 } else if kind == "redis_hex" { mask = 128 >> (i % 8) }
	stream[len(stream)+at] |= mask
}
func rows(folder, name, strategy string) (rows []row) {
	lines := strings.Split(strings.TrimSuffix(string(must(os.ReadFile(folder+"/"+name+".tsv"))), "\n"), "\n")
	for _, line := range lines[1:] {
		r, cells := row{"etype": "text", "k": "8"}, strings.Split(line, "\t") // where there is no such column
		for i, column := range strings.Split(lines[0], "\t") { r[column] = cells[i] }
		if strings.HasSuffix(strategy, r["version"]) { rows = append(rows, r) }
	}
	return
}
func check(impl implementation, folder, strategy string) (counts [3]int) { // how many agree, how many do not, and how many are left out
	filters, inserted, probes := rows(folder, "filters", strategy), rows(folder, "filter_elements", strategy), rows(folder, "probes", strategy)
	elements, kind := map[string]row{}, "" // the column that has the bytes of a filter, which says the order of bits
	for _, name := range []string{"redis_hex", "bits_lsb_hex", "stream_hex", "write_to_hex"} { if _, there := filters[0][name]; there { kind = name } }
	for _, r := range rows(folder, "hashing", strategy) { elements[r["elem_id"]] = r }
	count := func(agrees bool) { if agrees { counts[0]++ } else { counts[1]++ } }
	fitting := func(rows []row) (fit []row) { for _, r := range rows { if r.fits(kind) { fit = append(fit, r) } else { counts[2]++ } }; return }
	for _, r := range fitting(rows(folder, "positions", strategy)) {
		positions, answers := strings.Split(r["positions"], ","), "" // of a filter that lacks none of them, and each
		for _, missing := range append([]string{"none"}, positions...) {
			stream := impl.empty(r.m(), r.k())
			for _, i := range positions { if i != missing { r.set(stream, kind, must(strconv.Atoi(i))) } }
			answers += elements[r["elem_id"]].in(impl.open(stream, r.m(), r.k()))
		}
		count(answers == "1"+strings.Repeat("0", len(positions)))
	}
	for _, r := range fitting(filters) {
		empty, unlike, adds := impl.empty(r.m(), r.k()), "", false
		stream := append(unhex(r[kind]), make([]byte, len(empty)-len(r[kind])/2)...)
		full, made, set := impl.open(stream, r.m(), r.k()), impl.open(empty, r.m(), r.k()), ones(stream)-ones(empty)
		for _, x := range inserted { if x["filter_id"] == r["filter_id"] {
			unlike, adds = x.in(made), made.add(x["etype"], x.value()) // what is in a filter does not change it
			count(x.in(full) == "1" && !(adds && x.cell("put_result", "changed") == unlike))
		} }
		count(set == r.number("bit_count") && (!adds || bytes.Equal(made.bytes(), stream)))
		for _, x := range probes { if x["filter_id"] == r["filter_id"] { count(x.cell("contains_all_k", "might_contain", "present", "contains") == x.in(full)) } }
	}
	return
}
