// Ask by doc/readers/rust: ask URL KEY KIND [COMMAND...] < elements, one a line, as ask.py does.
use bloom_reader::{row, Part};
use std::{env, error::Error, io};

fn bytes_of(digits: &str) -> Result<Vec<u8>, std::num::ParseIntError> {
    let digits = digits.replace('-', "");
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16)).collect()
}

fn parse_row(line: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let values = line.split('\t').map(|value| value.split_at(1)).collect::<Vec<_>>();
    // What is to be borrowed.
    let bytes = values.iter().map(|(kind, value)| if "ub".contains(kind) { bytes_of(value) } else { Ok(vec![]) });
    let bytes = bytes.collect::<Result<Vec<_>, _>>()?;
    let mut parts = Vec::new();
    for ((kind, value), bytes) in values.iter().zip(&bytes) {
        parts.push(match *kind {
            "t" => Part::Text(value),
            "n" => Part::Integer(value.parse()?),
            "u" => Part::Uuid(bytes[..].try_into()?),
            _ => Part::Bytea(bytes),
        });
    }
    Ok(row(&parts))
}

fn parse(kind: &str, line: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    Ok(match kind {
        "integer" => line.parse::<i32>()?.to_le_bytes().to_vec(),
        "bigint" => line.parse::<i64>()?.to_le_bytes().to_vec(),
        "uuid" | "bytea" => bytes_of(line)?,
        "row" => parse_row(line)?,
        _ => line.as_bytes().to_vec(),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let [_, url, key, kind, command @ ..] = &env::args().collect::<Vec<_>>()[..] else { panic!("ask URL KEY KIND") };
    let lines = io::read_to_string(io::stdin())?;
    let elements = lines.split_terminator('\n').map(|line| parse(kind, line)).collect::<Result<Vec<_>, _>>()?;
    let mut redis = redis::Client::open(url.as_str())?.get_connection()?;
    let mut filter = bloom_reader::Filter::new(key);
    if let [name, arguments @ ..] = command {
        filter.contains(&mut redis, &elements)?;
        redis::cmd(name).arg(arguments).query::<redis::Value>(&mut redis)?;
    }
    for answer in filter.contains(&mut redis, &elements)? {
        println!("{}", answer as i32);
    }
    Ok(())
}
