//! Tests an implementation against the vectors: what it is to offer is said in ../README.md.
use std::{collections::HashMap, fs};
pub trait Filter {
    fn empty(m: u64, k: u64) -> Vec<u8>; fn open(bytes: &[u8], m: u64, k: u64) -> Self;
    fn contains(&self, etype: &str, value: &[u8]) -> bool; fn add(&mut self, etype: &str, value: &[u8]) -> bool; fn bytes(&self) -> Vec<u8>;
}
type Row = HashMap<&'static str, &'static str>;
fn cell(row: &Row, names: &[&str]) -> &'static str { names.iter().find_map(|name| row.get(*name)).copied().unwrap_or("") }
fn number(row: &Row, names: &[&str]) -> u64 { cell(row, names).parse::<i64>().unwrap() as u64 }
fn m(row: &Row) -> u64 { if row.contains_key("blocks") { 256 * number(row, &["blocks"]) } else { number(row, &["bit_size", "m", "size", "bits"]) } }
fn k(row: &Row) -> u64 { number(row, &["hash_iterations", "k"]) }
fn fits(row: &Row, strategy: &str) -> bool { (1..=1 << 20).contains(&m(row)) && cell(row, &["seed"]).trim_matches('0') == "" && strategy.ends_with(cell(row, &["version"])) }
fn unhex(digits: &str) -> Vec<u8> { assert!(digits == digits.to_lowercase()); (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect() }
fn differing(a: &[u8], b: &[u8]) -> u64 { a.iter().zip(b).map(|(a, b)| u64::from((a ^ b).count_ones())).sum() }
fn value(row: &Row) -> Vec<u8> {
    match (row["etype"], &row["value"].split(':').collect::<Vec<_>>()[..]) {
        ("int4" | "int8", [number]) => number.as_bytes().into(), ("text" | "text16" | "bytea" | "uuid", [digits]) => unhex(digits),
        ("text" | "text16" | "bytea", ["rep", times, digits]) => unhex(digits).repeat(times.parse().unwrap()), _ => panic!("no element: {row:?}"),
    } }
fn found(row: &Row, filter: &impl Filter) -> &'static str { if filter.contains(row["etype"], &value(row)) { "1" } else { "0" } }
fn set(bytes: &mut [u8], m: usize, kind: &str, i: usize) {
    let (at, length) = if kind == "write_to_hex" { (i / 64 * 8 + 7 - i % 64 / 8, m.div_ceil(64) * 8) } else { (i / 8, m.div_ceil(8)) };
    bytes.rchunks_mut(length).next().unwrap()[at] |= if kind == "redis_hex" { 128 >> (i % 8) } else { 1 << (i % 8) };
}
pub fn check<F: Filter>(folder: &str, strategy: &str) -> [u64; 3] { // how many agree, how many do not, and how many are left out
    let rows = |name: &str| -> Vec<Row> {
        let (names, lines) = fs::read_to_string(format!("{folder}/{name}.tsv")).unwrap().leak().split_once('\n').unwrap();
        assert!(!lines.is_empty() && lines.lines().all(|line| line.matches('\t').count() == names.matches('\t').count()), "no rows: {name}");
        lines.lines().map(|line| [("k", "8")].into_iter().chain(names.split('\t').zip(line.split('\t'))).collect()).collect()
    };
    let (filters, inserted, probes, mut counts) = (rows("filters"), rows("filter_elements"), rows("probes"), [0; 3]);
    let elements: HashMap<_, _> = rows("hashing").into_iter().map(|row| (row["elem_id"], row)).collect();
    let kind = ["write_to_hex", "stream_hex", "bits_lsb_hex", "redis_hex"].into_iter().find(|kind| filters[0].contains_key(*kind)).unwrap();
    counts[1] += inserted.iter().chain(&probes).filter(|x| filters.iter().all(|row| row["filter_id"] != x["filter_id"])).count() as u64;
    for row in &rows("positions") {
        if !fits(row, strategy) { counts[if "12".contains(cell(row, &["version"])) { 2 } else { 1 }] += 1; continue; }
        let positions: Vec<usize> = row["positions"].split(',').map(|i| i.parse().unwrap()).collect();
        let agrees = [None].into_iter().chain(positions.iter().map(Some)).all(|missing| {
            let mut bytes = F::empty(m(row), k(row));
            positions.iter().filter(|i| Some(*i) != missing).for_each(|i| set(&mut bytes, m(row) as usize, kind, *i));
            found(&elements[row["elem_id"]], &F::open(&bytes, m(row), k(row))) == if missing.is_none() { "1" } else { "0" }
        });
        counts[usize::from(!agrees || positions.len() as u64 != k(row))] += 1;
    }
    for row in &filters {
        if !fits(row, strategy) { counts[if "12".contains(cell(row, &["version"])) { 2 } else { 1 }] += 1; continue; }
        let mine = |x: &&Row| x["filter_id"] == row["filter_id"];
        let (empty, mut bytes, mut adds) = (F::empty(m(row), k(row)), unhex(row[kind]), false); bytes.resize(empty.len(), 0);
        let (full, mut made, mut before) = (F::open(&bytes, m(row), k(row)), F::open(&empty, m(row), k(row)), empty.clone());
        for (i, x) in inserted.iter().filter(mine).enumerate() {
            let last = x.get("add_result").map(|_| F::open(&before, m(row), k(row) - 1)); // Redisson leaves out the last
            let unlike = found(x, last.as_ref().unwrap_or(&made));
            let changed = if x.len() > 5 { cell(x, &["put_result", "add_result", "changed"]) } else if unlike == "0" { "1" } else { "0" };
            adds = made.add(x["etype"], &value(x)); if adds { before = made.bytes(); }
            let right = found(x, &full) == "1" && x["seq"] == (i + 1).to_string() && matches!(changed, "0" | "1");
            counts[usize::from(!right || adds && changed == unlike)] += 1;
        }
        counts[usize::from(row["bit_count"] != differing(&bytes, &empty).to_string() || adds && before != bytes)] += 1; // in the head, too
        probes.iter().filter(mine).for_each(|x| counts[usize::from(cell(x, &["contains_all_k", "might_contain", "present", "contains"]) != found(x, &full))] += 1);
    } counts }
