//! clients/rust, which only reads, as an implementation of what test/vectors/README.md says:
//! kit URL FOLDER STRATEGY.  guava in layout guava, as bytes, since without a hash their kind is
//! not known; parquet in layout bitmap, where no reader takes an empty filter, and none is asked.
use bloom_reader::Element::*;
use std::cell::{Cell, RefCell};
use std::env;

#[path = "../vectors.rs"]
mod vectors;

fn argument(n: usize) -> String {
    env::args().nth(n).expect("kit URL FOLDER STRATEGY")
}

fn connect() -> redis::RedisResult<redis::Connection> {
    redis::Client::open(argument(1))?.get_connection()
}

thread_local! {
    static REDIS: RefCell<redis::Connection> = RefCell::new(connect().unwrap());
    static OPENED: Cell<u64> = const { Cell::new(0) };
}

struct Reader(RefCell<bloom_reader::Filter>, bool);

impl vectors::Filter for Reader {
    fn empty(m: u64, k: u64) -> Vec<u8> {
        let mut bytes = vec![1, k as u8];
        if argument(3) == "parquet" {
            let (mut length, mut head) = (m / 4, vec![0x15]);
            while length > 127 {
                head.push(length as u8 | 128);
                length >>= 7;
            }
            head.push(length as u8);
            bytes = [&head[..], &[0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0]].concat();
        } else {
            bytes.extend(((m / 64) as u32).to_be_bytes());
        }
        bytes.resize(bytes.len() + m as usize / 8, 0);
        bytes
    }

    /// Two are open at a time.
    fn open(bytes: &[u8], m: u64, k: u64) -> Reader {
        let key = format!("kit{}", OPENED.with(|opened| opened.replace(opened.get() + 1)) % 4);
        let mut string = bytes.to_vec();
        let (hash, mut commands) = (format!("{{{key}}}:bloomext"), redis::pipe());
        commands.cmd("DEL").arg(&hash);
        if argument(3) == "parquet" {
            string = bytes[bytes.len() - m as usize / 8..].iter().map(|byte| byte.reverse_bits()).collect();
            commands.cmd("HSET").arg(&hash).arg("layout").arg("bitmap").arg("strategy").arg("parquet");
            let mut words = string.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap()));
            let at = words.clone().position(|word| word != 0).unwrap_or(0);
            let witness = format!("{} {at}:{}", string.len(), words.nth(at).unwrap());
            commands.arg("bits").arg(m).arg("hashes").arg(k).arg("witness").arg(witness);
        }
        let is_empty = argument(3) == "parquet" && string.iter().all(|byte| *byte == 0);
        commands.cmd("SET").arg(&key).arg(string);
        REDIS.with(|redis| commands.exec(&mut *redis.borrow_mut())).unwrap();
        Reader(RefCell::new(bloom_reader::Filter::new(&key)), is_empty)
    }

    fn contains(&self, etype: &str, value: &[u8]) -> bool {
        let text = std::str::from_utf8(value).unwrap_or("");
        let utf16 = text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        let integer = text.parse::<i64>().unwrap_or(0).to_le_bytes();
        let element = match etype {
            "text" if argument(3) == "guava" => Bytea(value),
            "int4" if argument(3) == "guava" => Bytea(&integer[..4]),
            "int8" if argument(3) == "guava" => Bytea(&integer),
            "text" => Text(text),
            "text16" => Bytea(&utf16),
            "int4" => Integer(text.parse().unwrap()),
            "int8" => Bigint(text.parse().unwrap()),
            "uuid" => Uuid(value.try_into().unwrap()),
            _ => Bytea(value),
        };
        !self.1 && REDIS.with(|redis| self.0.borrow_mut().contains(&mut *redis.borrow_mut(), &[element])).unwrap()[0]
    }

    fn add(&mut self, _: &str, _: &[u8]) -> bool {
        false
    }

    fn bytes(&self) -> Vec<u8> {
        vec![]
    }
}

fn main() {
    let [passed, failed, left_out] = vectors::check::<Reader>(&argument(2), &argument(3));
    println!("{passed} passed, {failed} failed, {left_out} left out");
}
