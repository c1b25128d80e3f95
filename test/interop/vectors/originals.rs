//! The filters of arrow-rs as an implementation: vectors FOLDER STRATEGY
use parquet::bloom_filter::Sbbf;
use vectors::Filter;

#[path = "../../vectors/runners/vectors.rs"]
mod vectors;

struct Original(Sbbf);

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(value: &[u8]) -> T {
    std::str::from_utf8(value).unwrap().parse().unwrap()
}

impl Filter for Original {
    fn empty(m: u64, _k: u64) -> Vec<u8> {
        Original(Sbbf::new(&vec![0; m as usize / 8])).bytes()
    }
    fn open(bytes: &[u8], _m: u64, _k: u64) -> Original {
        Original(Sbbf::from_bytes(bytes).unwrap())
    }
    fn contains(&self, etype: &str, value: &[u8]) -> bool {
        match etype {
            "int4" => self.0.check(&number::<i32>(value)),
            "int8" => self.0.check(&number::<i64>(value)),
            _ => self.0.check(value),
        }
    }
    fn add(&mut self, etype: &str, value: &[u8]) -> bool {
        match etype {
            "int4" => self.0.insert(&number::<i32>(value)),
            "int8" => self.0.insert(&number::<i64>(value)),
            _ => self.0.insert(value),
        }
        true
    }
    fn bytes(&self) -> Vec<u8> {
        let mut stream = Vec::new();
        self.0.write(&mut stream).unwrap();
        stream
    }
}

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    let [passed, failed, left_out] = vectors::check::<Original>(&arguments[1], &arguments[2]);
    println!("{passed} passed, {failed} failed, {left_out} left out");
    std::process::exit(i32::from(failed > 0));
}
