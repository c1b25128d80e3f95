//! Tests an implementation against the vectors: what it is to offer is said in ../README.md.
use std::{collections::HashMap, fs};

pub trait Filter {
    fn empty(m: u64, k: u64) -> Vec<u8>; fn open(bytes: &[u8], m: u64, k: u64) -> Self;
    fn contains(&self, etype: &str, value: &[u8]) -> bool; fn add(&mut self, etype: &str, value: &[u8]) -> bool; fn bytes(&self) -> Vec<u8>;
}
type Row = HashMap<&'static str, &'static str>;
fn cell(row: &Row, names: &[&str]) -> &'static str { names.iter().find_map(|name| row.get(*name)).copied().unwrap_or("") }
fn number(row: &Row, names: &[&str]) -> u64 { cell(row, names).parse().unwrap() }
fn m(row: &Row) -> u64 { if row.contains_key("blocks") { 256 * number(row, &["blocks"]) } else { number(row, &["bit_size", "m", "size", "bits"]) } }
fn k(row: &Row) -> u64 { number(row, &["hash_iterations", "k"]) }
fn fits(row: &Row, kind: &str) -> bool { (1..=1 << 20).contains(&m(row)) && matches!(cell(row, &["seed"]), "" | "0") && !cell(row, &[kind]).starts_with("sha256:") }
fn unhex(digits: &str) -> Vec<u8> { (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect() }
fn ones(bytes: &[u8]) -> u64 { bytes.iter().map(|byte| u64::from(byte.count_ones())).sum() }
fn value(row: &Row) -> Vec<u8> {
    let mut parts = row["value"].rsplit(':');
    let (unit, times) = (parts.next().unwrap(), parts.next().map_or(1, |times| times.parse().unwrap()));
    if row["etype"].starts_with("int") { unit.into() } else { unhex(unit).repeat(times) }
}
fn found(row: &Row, filter: &impl Filter) -> &'static str { if filter.contains(row["etype"], &value(row)) { "1" } else { "0" } }
fn set(bytes: &mut [u8], m: usize, kind: &str, i: usize) {
    let (at, length) = if kind == "write_to_hex" { (i / 64 * 8 + 7 - i % 64 / 8, m.div_ceil(64) * 8) } else { (i / 8, m.div_ceil(8)) };
    bytes.rchunks_mut(length).next().unwrap()[at] |= if kind == "redis_hex" { 128 >> (i % 8) } else { 1 << (i % 8) };
}
/// How many agree, how many do not, and how many are left out.
pub fn check<F: Filter>(folder: &str, strategy: &str) -> [u64; 3] {
    let rows = |name: &str| -> Vec<Row> {
        let (names, lines) = fs::read_to_string(format!("{folder}/{name}.tsv")).unwrap().leak().split_once('\n').unwrap();
        let rows = lines.lines().map(|line| [("etype", "text"), ("k", "8")].into_iter().chain(names.split('\t').zip(line.split('\t'))).collect::<Row>());
        rows.filter(|row| strategy.ends_with(cell(row, &["version"]))).collect()
    };
    let (filters, inserted, probes, mut counts) = (rows("filters"), rows("filter_elements"), rows("probes"), [0; 3]);
    let elements: HashMap<_, _> = rows("hashing").into_iter().map(|row| (row["elem_id"], row)).collect();
    let kind = ["write_to_hex", "stream_hex", "bits_lsb_hex", "redis_hex"].into_iter().find(|kind| filters[0].contains_key(*kind)).unwrap();
    for row in &rows("positions") {
        if !fits(row, kind) { counts[2] += 1; continue; }
        let positions: Vec<usize> = row["positions"].split(',').map(|i| i.parse().unwrap()).collect();
        let agrees = [None].into_iter().chain(positions.iter().map(Some)).all(|missing| {
            let mut bytes = F::empty(m(row), k(row));
            positions.iter().filter(|i| Some(*i) != missing).for_each(|i| set(&mut bytes, m(row) as usize, kind, *i));
            found(&elements[row["elem_id"]], &F::open(&bytes, m(row), k(row))) == if missing.is_none() { "1" } else { "0" }
        });
        counts[usize::from(!agrees)] += 1;
    }
    for row in &filters {
        if !fits(row, kind) { counts[2] += 1; continue; }
        let mine = |x: &&Row| x["filter_id"] == row["filter_id"];
        let (empty, mut bytes, mut adds) = (F::empty(m(row), k(row)), unhex(row[kind]), false);
        bytes.resize(empty.len(), 0);
        let (full, mut made) = (F::open(&bytes, m(row), k(row)), F::open(&empty, m(row), k(row)));
        for x in inserted.iter().filter(mine) {
            let unlike = found(x, &made); adds = made.add(x["etype"], &value(x)); // what is in a filter does not change it
            counts[usize::from(found(x, &full) == "0" || adds && cell(x, &["put_result", "changed"]) == unlike)] += 1;
        }
        counts[usize::from(ones(&bytes) != ones(&empty) + number(row, &["bit_count"]) || adds && made.bytes() != bytes)] += 1;
        probes.iter().filter(mine).for_each(|x| counts[usize::from(cell(x, &["contains_all_k", "might_contain", "present", "contains"]) != found(x, &full))] += 1);
    }
    counts
}
