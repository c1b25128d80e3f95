// Ask by clients/rust: ask URL KEY KIND [COMMAND...] < elements, one a line, as ask.py does.
use bloom_reader::Element::{self, *};
use std::{env, error::Error, io};

/// What an element borrows.
enum Value {
    OfText(String),
    OfBytea(Vec<u8>),
    OfUuid([u8; 16]),
    OfInteger(i32),
    OfBigint(i64),
}

use Value::*;

impl Value {
    fn parse(kind: &str, text: &str) -> Result<Value, Box<dyn Error>> {
        Ok(match kind {
            "text" | "t" => OfText(text.to_string()),
            "integer" => OfInteger(text.parse()?),
            "bigint" | "n" => OfBigint(text.parse()?),
            "uuid" | "u" => OfUuid(bytes_of(text)?[..].try_into()?),
            _ => OfBytea(bytes_of(text)?),
        })
    }

    fn element(&self) -> Element<'_> {
        match self {
            OfText(text) => Text(text),
            OfBytea(bytes) => Bytea(bytes),
            OfUuid(id) => Uuid(id),
            OfInteger(i) => Integer(*i),
            OfBigint(i) => Bigint(*i),
        }
    }
}

fn bytes_of(digits: &str) -> Result<Vec<u8>, std::num::ParseIntError> {
    let digits = digits.replace('-', "");
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16)).collect()
}

/// One value, or those of a row.
fn parse(kind: &str, line: &str) -> Result<Vec<Value>, Box<dyn Error>> {
    match kind {
        "row" => line.split('\t').map(|value| Value::parse(&value[..1], &value[1..])).collect(),
        _ => Ok(vec![Value::parse(kind, line)?]),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let [_, url, key, kind, command @ ..] = &env::args().collect::<Vec<_>>()[..] else { panic!("ask URL KEY KIND") };
    let lines = io::read_to_string(io::stdin())?;
    let values = lines.split_terminator('\n').map(|line| parse(kind, line)).collect::<Result<Vec<_>, _>>()?;
    let parts = values.iter().map(|values| values.iter().map(Value::element).collect::<Vec<_>>()).collect::<Vec<_>>();
    let elements = parts.iter().map(|parts| if kind == "row" { Row(parts) } else { parts[0] }).collect::<Vec<_>>();
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
