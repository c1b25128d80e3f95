//! Ask a filter of bloomext in Redis, of layout guava, bitmap or window: by BITFIELD_RO, in batches.
//!
//!     let mut titles = Filter::new("titles");
//!     titles.contains(&mut connection, &[Text("Breaking news"), Text("首页")])?;   // [true, false]
//!
//! false is certain.  An error means that nothing is known: take it for true.
//!
//! A question is one round trip of three commands.  The first one reads the bits, and with
//! them what shows that they are the filter's: the head of the string in layout guava, and
//! bits that the string must have, its witness.  The others read what the filter is, its
//! length and the hash next to it.  Where that is not as remembered, the bits may be another
//! filter's.
//!
//! In layout guava the hash only says of which kind the elements are, and may be lost, or be
//! about another string.  Where a witness does not prove it, elements are looked for in all
//! their forms.
//!
//! Window asks a window of time, in two round trips: the hash, and then the clock and the
//! words of all pieces, which say how far they are turned.
use std::collections::BTreeMap;

use redis::{cmd, from_redis_value, pipe, ConnectionLike, ErrorKind, RedisError, RedisResult, Value};

const BATCH: usize = 100; // elements a command; larger ones keep Redis from others for longer
const TRIES: u32 = 5; // where the filter is replaced again and again
const PIECE: u64 = 500_000; // words of a piece of a window, except for the last one
const STRONG: u32 = 24; // bits of a witness, which another string has hardly ever
const FIELDS: [&str; 9] = ["layout", "strategy", "bits", "hashes", "funnel", "elements", "whole", "witness", "mirrored"];
const MOST: u64 = 999_999_999_999_999; // of numbers in the hash of a window
const WINDOW_FIELDS: [&str; 5] = ["id", "slice", "slices", "newest", "turned"];

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub enum Element<'a> {
    Text(&'a str),
    Bytea(&'a [u8]),
    Uuid(&'a [u8; 16]),
    Integer(i32),
    Bigint(i64),
    /// Of several columns.  Integers of any size are the same there.
    Row(&'a [Element<'a>]),
}

use Element::*;

impl Element<'_> {
    /// As the hash names it.
    fn funnel(&self) -> &'static str {
        match self {
            Text(_) => "utf8",
            Integer(_) => "int",
            Bigint(_) => "long",
            Bytea(_) | Uuid(_) | Row(_) => "bytes",
        }
    }

    /// Whether the hash may say that the elements are such.
    fn may_be(&self, elements: &str) -> bool {
        match self {
            Text(_) => elements == "text" || elements == "char(n)",
            Integer(_) | Bigint(_) => elements == "integer",
            Uuid(_) => elements == "uuid",
            Bytea(_) | Row(_) => elements == "bytea",
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Text(text) => text.as_bytes().to_vec(),
            Bytea(bytes) => bytes.to_vec(),
            Uuid(id) => id.to_vec(),
            Integer(i) => i.to_le_bytes().to_vec(),
            Bigint(i) => i.to_le_bytes().to_vec(),
            Row(values) => values.iter().flat_map(Element::part).collect(),
        }
    }

    /// Bytes that it may be in a filter of which the kind is not known.
    fn forms(&self) -> Vec<Vec<u8>> {
        let integers = |n: i64| {
            let short = i32::try_from(n).ok().map(|n| n.to_le_bytes().to_vec());
            short.into_iter().chain([n.to_le_bytes().to_vec()]).collect()
        };
        match self {
            // That of char(n) is without trailing blanks.
            Text(text) => [*text, text.trim_end_matches(' ')]
                .iter()
                .flat_map(|text| [text.as_bytes().to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()])
                .collect(),
            Integer(n) => integers(i64::from(*n)),
            Bigint(n) => integers(*n),
            _ => vec![self.bytes()],
        }
    }

    /// As a value of a row: the number of its kind, the length, and the bytes.
    fn part(&self) -> Vec<u8> {
        let (kind, bytes) = match self {
            Text(_) => (9, self.bytes()),
            Bytea(_) | Row(_) => (11, self.bytes()),
            Uuid(_) => (12, self.bytes()),
            Integer(i) => (13, i64::from(*i).to_le_bytes().to_vec()),
            Bigint(_) => (13, self.bytes()),
        };
        [&[kind][..], &(bytes.len() as u32).to_le_bytes(), &bytes].concat()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Strategy {
    Guava,
    Parquet,
}

const SALTS: [u32; 8] =
    [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31];

impl Strategy {
    /// Of an element in m bits.
    fn positions(self, element: &[u8], m: u64, k: u64) -> Vec<u64> {
        match self {
            Strategy::Guava => {
                let hash = fastmurmur3::murmur3_x64_128(element, 0);
                let (h1, h2) = (hash as u64, (hash >> 64) as u64);
                (0..k).map(|i| (h1.wrapping_add(i.wrapping_mul(h2)) & (1 << 63) - 1) % m).collect()
            }
            // A block of 256 bits by the upper half of the hash, and a bit in each of its words
            // by the lower half.
            Strategy::Parquet => {
                let hash = xxhash_rust::xxh64::xxh64(element, 0);
                let block = (hash >> 32) * (m / 256) >> 32;
                let bit = |salt: u32| u64::from((hash as u32).wrapping_mul(salt) >> 27);
                (0..).zip(SALTS).map(|(i, salt)| 256 * block + 32 * i + bit(salt)).collect()
            }
        }
    }
}

type Fields = Vec<Option<String>>;

/// How the elements of a filter become positions, and of which kind they are.
struct Plan {
    strategy: Strategy,
    m: u64,
    k: u64,
    funnel: String,
    elements: String,
}

impl Plan {
    /// By a hash that describes a filter.
    fn of(fields: &Fields) -> Result<Plan, String> {
        let field = |i: usize| fields[i].as_deref().unwrap_or("");
        let (m, k) = (number(field(2), 1, 1 << 32)?, number(field(3), 1, 255)?);
        let strategy = match field(1) {
            "guava" if m % 64 == 0 => Strategy::Guava,
            "parquet" if k == 8 && m % 256 == 0 => Strategy::Parquet,
            other => return Err(format!("strategy {other} with {m} bits and {k} hashes is not known")),
        };
        Ok(Plan { strategy, m, k, funnel: field(4).to_string(), elements: field(5).to_string() })
    }

    fn positions(&self, element: &[u8]) -> Vec<u64> {
        self.strategy.positions(element, self.m, self.k)
    }

    /// Refuse elements of another kind than the hash says.
    fn check(&self, elements: &[Element]) -> Result<(), String> {
        for element in elements {
            let funnel_fits = self.funnel.is_empty() || self.funnel == element.funnel();
            if !funnel_fits || !self.elements.is_empty() && !element.may_be(&self.elements) {
                let (elements, funnel, asked) = (&self.elements, &self.funnel, element.funnel());
                return Err(format!("its elements are \"{elements}\" as {funnel}, and were asked for as {asked}"));
            }
            if self.elements == "char(n)" && element.bytes().ends_with(b" ") {
                return Err("its elements are char(n): ask for them without trailing blanks".to_string());
            }
        }
        Ok(())
    }
}

/// What a filter is, by the first 48 bits of its string, its length and the hash next to it.
struct Shape {
    described: (u64, Fields),
    head: Option<u64>, // of layout guava
    plan: Plan,
    witness: Vec<(u64, u64)>, // number and bits of words, which prove the hash; none where that is not sure
}

impl Shape {
    fn new(first: u64, described: (u64, Fields)) -> Result<Shape, String> {
        let (length, fields) = &described;
        let field = |i: usize| fields[i].as_deref().unwrap_or("");
        let mut witness = words(field(7)).unwrap_or_default();
        let (plan, head, about);
        if field(0) == "bitmap" {
            (plan, head, about) = (Plan::of(fields)?, None, true);
            if *length != (plan.m + 7) / 8 {
                return Err(format!("no filter: it has {length} bytes, not {} bits", plan.m));
            }
            if witness.is_empty() {
                return Err("it has no witness, so that a lost filter looks like an empty one".to_string());
            }
        } else {
            let (m, k) = ((first & 0xffffffff) * 64, first >> 32 & 255);
            if first >> 40 != 1 || k == 0 || m == 0 || *length != 6 + m / 8 {
                return Err("no filter of layout guava or bitmap".to_string());
            }
            // A hash that is about another string says nothing.
            about = [field(0), field(1), field(2), field(3)] == ["guava", "guava", &m.to_string(), &k.to_string()];
            let said = |i: usize| if about { field(i).to_string() } else { String::new() };
            (plan, head) = (Plan { strategy: Strategy::Guava, m, k, funnel: said(4), elements: said(5) }, Some(first));
            if !about || fields[8].is_none() || witness.iter().map(|(_, bits)| bits.count_ones()).sum::<u32>() < STRONG {
                witness.clear();
            }
        }
        if about && fields[6].is_some() {
            return Err("a shard, which has some of the elements only".to_string());
        }
        Ok(Shape { head, plan, witness, described })
    }

    fn is_of(&self, head: u64, described: &(u64, Fields)) -> bool {
        self.described == *described && self.head.map_or(true, |of_before| of_before == head)
    }

    /// Bytes to be looked for, and which of the elements they are.
    fn forms(&self, elements: &[Element]) -> Vec<(usize, Vec<u8>)> {
        let forms = |element: &Element| if self.witness.is_empty() { element.forms() } else { vec![element.bytes()] };
        elements.iter().enumerate().flat_map(|(i, element)| forms(element).into_iter().map(move |form| (i, form))).collect()
    }

    /// What BITFIELD_RO is to read: words of the witness, then bits.
    fn gets(&self, forms: &[(usize, Vec<u8>)]) -> Vec<(&'static str, String)> {
        let mut gets = self.witness.iter().map(|(word, _)| ("u32", format!("#{word}"))).collect::<Vec<_>>();
        for (_, form) in forms {
            for position in self.plan.positions(form) {
                let bit = if self.head.is_some() { 48 + (position ^ 63) } else { position };
                gets.push(("u1", bit.to_string()));
            }
        }
        gets
    }

    /// By the values of gets().
    fn has_witness(&self, values: &[u64]) -> bool {
        self.witness.iter().zip(values).all(|((_, bits), word)| word & bits == *bits)
    }

    fn answers(&self, values: &[u64], forms: &[(usize, Vec<u8>)], elements: usize) -> Vec<bool> {
        let mut answers = vec![false; elements];
        for ((i, _), bits) in forms.iter().zip(values[self.witness.len()..].chunks(self.plan.k as usize)) {
            answers[*i] |= bits.iter().all(|bit| *bit == 1);
        }
        answers
    }
}

fn number(text: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("no filter: its hash says {text}, and not a number from {least} to {most}"))
}

/// Of a witness: a length, and " WORD:BITS" for each word.
fn words(witness: &str) -> Option<Vec<(u64, u64)>> {
    let mut parts = witness.split(' ');
    parts.next()?.parse::<u64>().ok()?;
    parts.map(|part| part.split_once(':').and_then(|(word, bits)| Some((word.parse().ok()?, bits.parse().ok().filter(|bits| *bits > 0)?)))).collect()
}

/// Is for one thread at a time: have one for each.
pub struct Filter {
    key: String,
    hash: String,
    shape: Option<Shape>,
}

/// Next to a filter.
fn hash_of(key: &str) -> String {
    if key.contains('{') { format!("{key}:bloomext") } else { format!("{{{key}}}:bloomext") }
}

fn error(key: &str, why: String) -> RedisError {
    (ErrorKind::TypeError, "cannot be asked", format!("{key}: {why}")).into()
}

impl Filter {
    pub fn new(key: &str) -> Filter {
        Filter { key: key.to_string(), hash: hash_of(key), shape: None }
    }

    /// An answer for each element, each batch of one moment.
    pub fn contains(&mut self, redis: &mut impl ConnectionLike, elements: &[Element]) -> RedisResult<Vec<bool>> {
        let answers = elements.chunks(BATCH).map(|batch| self.contains_each(redis, batch)).collect::<RedisResult<Vec<_>>>()?;
        Ok(answers.concat())
    }

    fn contains_each(&mut self, redis: &mut impl ConnectionLike, batch: &[Element]) -> RedisResult<Vec<bool>> {
        let mut why = "it is replaced again and again".to_string();
        for _ in 0..TRIES {
            let forms = self.shape.as_ref().map_or(vec![], |shape| shape.forms(batch));
            let (head, values, described) = self.ask(redis, &forms)?;
            if let Some(shape) = self.shape.as_mut().filter(|shape| shape.is_of(head, &described)) {
                if shape.has_witness(&values) {
                    shape.plan.check(batch).map_err(|why| error(&self.key, why))?;
                    return Ok(shape.answers(&values, &forms, batch.len()));
                }
                if shape.head.is_none() {
                    return Err(error(&self.key, "it has lost bits".to_string()));
                }
                // The hash is about another string of this shape.
                shape.witness.clear();
                shape.plan.funnel.clear();
                shape.plan.elements.clear();
                continue;
            }
            let length = described.0;
            self.shape = Shape::new(head, described).map_err(|error| why = error).ok();
            // What two commands say may be of two filters, but not where there is none.
            if length == 0 {
                break;
            }
        }
        Err(error(&self.key, why))
    }

    /// The first 48 bits, the values that the shape of before gets, length and hash.
    fn ask(&self, redis: &mut impl ConnectionLike, forms: &[(usize, Vec<u8>)]) -> RedisResult<(u64, Vec<u64>, (u64, Fields))> {
        let mut commands = pipe();
        commands.cmd("BITFIELD_RO").arg(&self.key).arg("GET").arg("u48").arg(0);
        for (size, offset) in self.shape.iter().flat_map(|shape| shape.gets(forms)) {
            commands.arg("GET").arg(size).arg(offset);
        }
        commands.cmd("STRLEN").arg(&self.key);
        commands.cmd("HMGET").arg(&self.hash).arg(&FIELDS[..]);
        let (mut values, length, fields): (Vec<u64>, u64, Fields) = commands.query(redis)?;
        let head = values.remove(0);
        Ok((head, values, (length, fields)))
    }
}

/// Of pieces of a window: the number of each word that is asked for, and of the element that needs it.
type Pieces = BTreeMap<u64, Vec<(u64, usize)>>;

/// Of a piece: the slice that it was turned to and then words, its id and its length.
type Found = (Vec<i64>, Vec<u8>, u64);

/// What a window is, by its hash.
struct WindowPlan {
    plan: Plan,
    id: String,
    slice: i64,
    slices: i64,
    newest: i64,
    turned: i64,
}

impl WindowPlan {
    fn of(fields: &Fields) -> Result<WindowPlan, String> {
        let (Some("window"), None, Some(id)) = (fields[0].as_deref(), &fields[6], &fields[9]) else {
            return Err("no filter of layout window".to_string());
        };
        let count = |i: usize, least: u64, most: u64| number(fields[i].as_deref().unwrap_or(""), least, most).map(|n| n as i64);
        let (slice, slices, newest) = (count(10, 1000, MOST)?, count(11, 1, 30)?, count(12, 0, MOST)?);
        let turned = count(13, 0, newest as u64)?;
        Ok(WindowPlan { plan: Plan::of(fields)?, id: id.clone(), slice, slices, newest, turned })
    }

    fn pieces(&self, elements: &[Element]) -> Pieces {
        let mut pieces = Pieces::new();
        for (i, element) in elements.iter().enumerate() {
            for position in self.plan.positions(&element.bytes()) {
                pieces.entry(position / PIECE).or_default().push((position % PIECE, i));
            }
        }
        pieces
    }

    fn now(&self, (seconds, micros): (i64, i64)) -> Result<i64, String> {
        let now = (seconds * 1000 + micros / 1000) / self.slice;
        if self.newest > now + 1 {
            return Err("the clock is behind its newest slice".to_string());
        }
        Ok(now.max(self.newest))
    }

    fn is_piece(&self, piece: u64, (values, id, length): &Found) -> bool {
        let words = PIECE.min(self.plan.m - piece * PIECE);
        id == self.id.as_bytes() && *length == 24 + 4 * words && (self.turned..=self.newest).contains(&values[0])
    }

    /// An element is there if its words have a bit in common, of a slice that is not over.
    fn answers(&self, elements: usize, now: i64, pieces: &Pieces, found: &[Found]) -> Vec<bool> {
        let mut common = vec![u32::MAX; elements];
        for (words, (values, ..)) in pieces.values().zip(found) {
            let live = self.live(values[0], now);
            for ((_, element), word) in words.iter().zip(&values[1..]) {
                common[*element] &= *word as u32 & live;
            }
        }
        common.iter().map(|bits| *bits != 0).collect()
    }

    /// The bits that count of the words of a piece that was turned to a slice.
    fn live(&self, at: i64, now: i64) -> u32 {
        ((now - self.slices - 1).max(at - 31)..=at).map(|slice| 1u32 << slice.rem_euclid(32)).sum()
    }
}

/// A window of time.
pub struct Window {
    key: String,
    hash: String,
}

impl Window {
    pub fn new(key: &str) -> Window {
        Window { key: key.to_string(), hash: hash_of(key) }
    }

    /// An answer for each element.
    pub fn contains(&self, redis: &mut impl ConnectionLike, elements: &[Element]) -> RedisResult<Vec<bool>> {
        let answers = elements.chunks(BATCH).map(|batch| self.contains_each(redis, batch)).collect::<RedisResult<Vec<_>>>()?;
        Ok(answers.concat())
    }

    fn contains_each(&self, redis: &mut impl ConnectionLike, batch: &[Element]) -> RedisResult<Vec<bool>> {
        let refuse = |why| error(&self.key, why);
        for _ in 0..TRIES {
            let fields = cmd("HMGET").arg(&self.hash).arg(&FIELDS[..]).arg(&WINDOW_FIELDS[..]).query(redis)?;
            let window = WindowPlan::of(&fields).map_err(refuse)?;
            window.plan.check(batch).map_err(refuse)?;
            let pieces = window.pieces(batch);
            let (time, found) = self.ask(redis, &window.id, &pieces)?;
            let now = window.now(time).map_err(refuse)?;
            // If not, it may have been turned, or replaced, after its hash was read.
            if pieces.keys().zip(&found).all(|(piece, found)| window.is_piece(*piece, found)) {
                return Ok(window.answers(batch.len(), now, &pieces, &found));
            }
        }
        Err(refuse("it has lost a part".to_string()))
    }

    /// The clock, seconds and microseconds, and what is found of each piece.
    fn ask(&self, redis: &mut impl ConnectionLike, id: &str, pieces: &Pieces) -> RedisResult<((i64, i64), Vec<Found>)> {
        let mut commands = pipe();
        commands.cmd("TIME");
        for (piece, words) in pieces {
            let key = format!("{}-window-{id}-{piece}", self.hash);
            commands.cmd("BITFIELD_RO").arg(&key).arg("GET").arg("i64").arg(0);
            for (word, _) in words {
                commands.arg("GET").arg("u32").arg(format!("#{}", word + 6));
            }
            commands.cmd("GETRANGE").arg(&key).arg(8).arg(23);
            commands.cmd("STRLEN").arg(&key);
        }
        let answers: Vec<Value> = commands.query(redis)?;
        let found = answers[1..].chunks(3).map(|of| Ok((from_redis_value(&of[0])?, from_redis_value(&of[1])?, from_redis_value(&of[2])?)));
        Ok((from_redis_value(&answers[0])?, found.collect::<RedisResult<_>>()?))
    }
}
