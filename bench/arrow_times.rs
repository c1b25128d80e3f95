// What arrow-rs itself takes: reads a line of two files at a time, a filter's stream in
// hexadecimal and the titles to ask it for, and answers by nanoseconds of the processor
// that a check takes, once they were all asked for before.
use std::error::Error;
use std::{fs, io};

use parquet::bloom_filter::Sbbf;

/// Nanoseconds of this thread on the processor.
fn taken() -> Result<u64, Box<dyn Error>> {
    Ok(fs::read_to_string("/proc/thread-self/schedstat")?.split(' ').next().ok_or("no time")?.parse()?)
}

fn check(filter: &str, titles: &str) -> Result<f64, Box<dyn Error>> {
    let digits = fs::read_to_string(filter)?;
    let digits = digits.trim_end();
    let stream = (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16)).collect::<Result<Vec<_>, _>>()?;
    let filter = Sbbf::from_bytes(&stream)?;
    let lines = fs::read_to_string(titles)?;
    let titles: Vec<&str> = lines.lines().collect();
    let found = |filter: &Sbbf| titles.iter().filter(|title| filter.check(**title)).count();
    let before = found(&filter);
    let start = taken()?;
    let again = found(&filter);
    let nanoseconds = taken()? - start;
    if again != before {
        return Err("it answers otherwise the second time".into());
    }
    Ok(nanoseconds as f64 / titles.len() as f64)
}

fn main() -> Result<(), Box<dyn Error>> {
    for line in io::stdin().lines() {
        let line = line?;
        let (filter, titles) = line.split_once(' ').ok_or("two files are wanted")?;
        println!("{:.2}", check(filter, titles)?);
    }
    Ok(())
}
