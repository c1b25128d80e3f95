// Tests an implementation against the vectors: what it is to offer is said in ../README.md.
package main; import ("bytes"; "encoding/hex"; "math/bits"; "os"; "regexp"; "strconv"; "strings")
type filter interface { contains(etype string, value []byte) bool; add(etype string, value []byte) bool; bytes() []byte }
type implementation interface { empty(m, k uint64) []byte; open(stream []byte, m, k uint64) filter }
type row map[string]string; var form = regexp.MustCompile("^(int[48]:-?[0-9]+|(text|text16|bytea|uuid):(rep:[0-9]+:)?[0-9a-f]*)$")
var orders = map[string][3]int{"write_to_hex": {64, 7, 0}, "stream_hex": {8, 0, 0}, "bits_lsb_hex": {8, 0, 0}, "redis_hex": {8, 0, 7}}
func set(b []byte, m, i int, o [3]int) { b[len(b)-(m+o[0]-1)/o[0]*o[0]/8+(i/8^o[1])] |= 1 << (i%8 ^ o[2]) }
func must[T any](value T, err error) T { if err != nil { panic(err) }; return value }
func (r row) cell(names ...string) string { for _, name := range names { if cell, has := r[name]; has { return cell } }; panic(names) }
func (r row) number(names ...string) uint64 { return uint64(must(strconv.ParseInt(r.cell(names...), 10, 64))) }
func (r row) m() uint64 { if r["blocks"] != "" { return 256 * r.number("blocks") }; return r.number("bit_size", "m", "size", "bits") }
func (r row) k() uint64 { return r.number("hash_iterations", "k") }
func (r row) fits(strategy string) bool { return r.m()-1 < 1<<20 && strings.Trim(r["seed"], "0") == "" && strings.HasSuffix(strategy, r["version"]) }
func (r row) in(f filter) string { if f.contains(r.element()) { return "1" }; return "0" }
func (r row) element() (string, []byte) {
	parts := strings.Split(strings.Replace(form.FindString(r["etype"]+":"+r["value"]), ":", ":1:", 1), ":") // none is an error
	if r["etype"][:3] == "int" { return r["etype"], []byte(parts[2]) }
	return r["etype"], bytes.Repeat(must(hex.DecodeString(parts[len(parts)-1])), must(strconv.Atoi(parts[len(parts)-2])))
}
func rows(folder, name string) (rows []row) {
	lines := strings.Split(strings.TrimSuffix(string(must(os.ReadFile(folder+"/"+name+".tsv"))), "\n"), "\n")
	for _, line := range lines[1:] {
		r, names, cells := row{"k": "8"}, strings.Split(lines[0], "\t"), strings.Split(line, "\t") // Parquet has no column k
		for i, name := range names { r[name] = cells[i] }
		if rows = append(rows, r); len(cells) != len(names) || !strings.Contains("12", r["version"]) { panic("no row: " + line) }
	}
	return append(rows[:1], rows[1:]...) // none is an error
}
func check(impl implementation, folder, strategy string) (counts [3]int) { // how many agree, do not, and are left out
	count := func(agrees bool) { if agrees { counts[0]++ } else { counts[1]++ } }
	filters, inserted, probes, known, kind := rows(folder, "filters"), rows(folder, "filter_elements"), rows(folder, "probes"), map[string]row{}, ""
	for name := range orders { if _, has := filters[0][name]; has { kind = name } }
	for _, r := range append(rows(folder, "hashing"), filters...) { known[r["elem_id"]+"/"+r["filter_id"]] = r }
	for _, x := range append(inserted, probes...) { if known["/"+x["filter_id"]] == nil { count(false) } }
	for _, r := range rows(folder, "positions") {
		if !r.fits(strategy) { counts[2]++; continue }
		positions, answers := strings.Split(r["positions"], ","), "" // of a filter that lacks none of them, and each
		for _, missing := range append([]string{"none"}, positions...) {
			stream := impl.empty(r.m(), r.k()); for _, i := range positions { if i != missing { set(stream, int(r.m()), must(strconv.Atoi(i)), orders[kind]) } }
			answers += known[r["elem_id"]+"/"].in(impl.open(stream, r.m(), r.k()))
		}
		count(answers == "1"+strings.Repeat("0", int(r.k())))
	}
	for _, r := range filters {
		if !r.fits(strategy) { counts[2]++; continue }
		empty, adds, seq, differing := impl.empty(r.m(), r.k()), false, 0, 0
		_, stream := row{"etype": "bytea", "value": r[kind]}.element(); stream = append(stream, make([]byte, len(empty)-len(stream))...)
		full, made, before := impl.open(stream, r.m(), r.k()), impl.open(empty, r.m(), r.k()), empty
		for _, x := range inserted { if x["filter_id"] == r["filter_id"] {
			asked, changed := made, x["put_result"]+x["changed"]+x["add_result"]
			if x["add_result"] != "" { asked = impl.open(before, r.m(), r.k()-1) } // Redisson leaves out the last
			unlike, right := x.in(asked), x.in(full) == "1" && (changed == "0" || changed == "1" || len(x) == 5)
			if adds = made.add(x.element()); adds { before = made.bytes() }
			seq++; count(right && !(adds && changed == unlike) && x["seq"] == strconv.Itoa(seq))
		} }
		for i := range stream { differing += bits.OnesCount8(stream[i] ^ empty[i]) } // in the head, too
		count(strconv.Itoa(differing) == r["bit_count"] && (!adds || bytes.Equal(before, stream)))
		for _, x := range probes { if x["filter_id"] == r["filter_id"] { count(x.cell("contains_all_k", "might_contain", "present", "contains") == x.in(full)) } }
	}; return
}
