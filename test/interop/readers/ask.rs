// Ask by clients/rust, as ask.py does.
use bloom_reader::{
    Element::{self, *},
    Filter, Window,
};
use redis::{Connection, RedisResult};
use std::{error::Error, fs, io};

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

type Contains = dyn FnMut(&mut Connection, &[Element]) -> RedisResult<Vec<bool>>;

fn reader(key: &str) -> Box<Contains> {
    if key.starts_with("window") {
        let window = Window::new(key);
        return Box::new(move |redis, elements| window.contains(redis, elements));
    }
    let mut filter = Filter::new(key);
    Box::new(move |redis, elements| filter.contains(redis, elements))
}

fn ask(question: &[&str]) -> Result<String, Box<dyn Error>> {
    let [url, key, kind, file, command @ ..] = question else { panic!("no question: {question:?}") };
    let lines = fs::read_to_string(file)?;
    let values = lines.split_terminator('\n').map(|line| parse(kind, line)).collect::<Result<Vec<_>, _>>()?;
    let parts = values.iter().map(|values| values.iter().map(Value::element).collect::<Vec<_>>()).collect::<Vec<_>>();
    let elements = parts.iter().map(|parts| if *kind == "row" { Row(parts) } else { parts[0] }).collect::<Vec<_>>();
    let mut redis = redis::Client::open(*url)?.get_connection()?;
    let mut contains = reader(key);
    if let [name, arguments @ ..] = command {
        contains(&mut redis, &elements)?;
        redis::cmd(name).arg(arguments).query::<redis::Value>(&mut redis)?;
    }
    Ok(contains(&mut redis, &elements)?.iter().map(|answer| if *answer { '1' } else { '0' }).collect())
}

fn main() -> io::Result<()> {
    for line in io::stdin().lines() {
        let answer = ask(&line?.split('\t').collect::<Vec<_>>()).unwrap_or_else(|error| error.to_string());
        println!("{}", answer.replace('\n', " "));
    }
    Ok(())
}
