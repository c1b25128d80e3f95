//! Ask a filter of bloomext in Redis, layout guava: by BITFIELD_RO, in batches.
//!
//!     let mut titles = Filter::new("titles");
//!     titles.contains(&mut connection, &["Breaking news", "首页"])?;   // [true, false]
//!
//! false is certain.  An error means that nothing is known: take it for true.
//!
//! Elements are bytes: those of text are its UTF-8, of integer `42i32.to_le_bytes()`, of
//! bigint `42i64.to_le_bytes()`, of bytea and uuid their own.  Which kind is in the filter,
//! it does not say.
use redis::{cmd, ConnectionLike, ErrorKind, RedisResult};

const BATCH: usize = 100; // elements a command; larger ones keep Redis from others for longer
const TRIES: u32 = 5; // where the filter is replaced again and again

/// Is for one thread at a time: have one for each.
pub struct Filter {
    key: String,
    head: u64,
}

impl Filter {
    pub fn new(key: &str) -> Filter {
        Filter { key: key.to_string(), head: 0 }
    }

    /// An answer for each element, each batch of one moment.
    pub fn contains<E: AsRef<[u8]>>(
        &mut self,
        redis: &mut impl ConnectionLike,
        elements: &[E],
    ) -> RedisResult<Vec<bool>> {
        let (mut answers, mut tries) = (Vec::new(), 0);
        while answers.len() < elements.len() {
            // Head and bits by one command: by two, they could be of two filters.
            let mut ask = cmd("BITFIELD_RO");
            ask.arg(&self.key).arg("GET").arg("u48").arg(0);
            for element in elements[answers.len()..].iter().take(BATCH) {
                for position in positions(element.as_ref(), self.head) {
                    ask.arg("GET").arg("u1").arg(48 + (position ^ 63));
                }
            }
            let seen: Vec<u64> = ask.query(redis)?;
            if self.head != 0 && seen[0] == self.head {
                let k = (self.head >> 32 & 255) as usize;
                answers.extend(seen[1..].chunks(k).map(|bits| bits.iter().all(|bit| *bit == 1)));
                tries = 0;
                continue;
            }
            // The first time, or replaced; perhaps again between the two commands.  Where no key is, all is 0.
            let (strategy, hashes, words) = (seen[0] >> 40, seen[0] >> 32 & 255, seen[0] & 0xffffffff);
            let length: u64 = cmd("STRLEN").arg(&self.key).query(redis)?;
            tries += 1;
            if strategy == 1 && hashes > 0 && words > 0 && length == 6 + 8 * words {
                self.head = seen[0];
            } else if length == 0 || tries >= TRIES {
                return Err((ErrorKind::TypeError, "no filter of layout guava", self.key.clone()).into());
            }
        }
        Ok(answers)
    }
}

/// A value of an element of several columns.
pub enum Part<'a> {
    Text(&'a str),
    Bytea(&'a [u8]),
    Uuid(&'a [u8; 16]),
    Integer(i64), // smallint, integer, bigint
}

/// The element of a filter of several columns: `row(&[Part::Text("north"), Part::Integer(1)])`.
pub fn row(parts: &[Part]) -> Vec<u8> {
    let mut element = Vec::new();
    for part in parts {
        // The number of its kind, the length, and the bytes.
        let (kind, bytes) = match part {
            Part::Text(text) => (9, text.as_bytes().to_vec()),
            Part::Bytea(bytes) => (11, bytes.to_vec()),
            Part::Uuid(id) => (12, id.to_vec()),
            Part::Integer(i) => (13, i.to_le_bytes().to_vec()),
        };
        element.push(kind);
        element.extend((bytes.len() as u32).to_le_bytes());
        element.extend(bytes);
    }
    element
}

fn positions(element: &[u8], head: u64) -> impl Iterator<Item = u64> {
    let (k, m) = (head >> 32 & 255, (head & 0xffffffff) * 64);
    let hash = fastmurmur3::murmur3_x64_128(element, 0);
    let (h1, h2) = (hash as u64, (hash >> 64) as u64);
    (0..k).map(move |i| (h1.wrapping_add(i.wrapping_mul(h2)) & (1 << 63) - 1) % m)
}
