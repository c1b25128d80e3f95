// The filters of arrow-rs: arrow-rs FOLDER, as parquet_writers.pl says.
use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::sync::Arc;

use parquet::bloom_filter::Sbbf;
use parquet::data_type::{AsBytes, ByteArray, ByteArrayType, FixedLenByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::{ReaderProperties, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

const KINDS: [&str; 5] = ["text", "bytea", "uuid", "integer", "bigint"];
const FPP: f64 = 0.01;
const SCHEMA: &str = "message of_all_kinds {
    required binary text (STRING); required binary bytea; required fixed_len_byte_array(16) uuid (UUID);
    required int32 integer; required int64 bigint; }";

fn unhex(digits: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    (0..digits.len()).step_by(2).map(|i| Ok(u8::from_str_radix(&digits[i..i + 2], 16)?)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The elements of a kind, in the types that arrow-rs hashes.
enum Elements {
    Bytes(Vec<ByteArray>),
    Int(Vec<i32>),
    Long(Vec<i64>),
}

impl Elements {
    fn read(kind: &str, values: &[&str]) -> Result<Elements, Box<dyn Error>> {
        Ok(match kind {
            "integer" => Elements::Int(values.iter().map(|x| x.parse()).collect::<Result<_, _>>()?),
            "bigint" => Elements::Long(values.iter().map(|x| x.parse()).collect::<Result<_, _>>()?),
            "text" => Elements::Bytes(values.iter().map(|&x| ByteArray::from(x)).collect()),
            "uuid" => Elements::Bytes(values.iter().map(|x| Ok(unhex(&x.replace('-', ""))?.into())).collect::<Result<_, Box<dyn Error>>>()?),
            _ => Elements::Bytes(values.iter().map(|x| Ok(unhex(x)?.into())).collect::<Result<_, Box<dyn Error>>>()?),
        })
    }

    fn filter(&self) -> Result<Sbbf, Box<dyn Error>> {
        fn of<T: AsBytes>(values: &[T]) -> Result<Sbbf, Box<dyn Error>> {
            let mut filter = Sbbf::new_with_ndv_fpp(values.len() as u64, FPP)?;
            values.iter().for_each(|x| filter.insert(x));
            Ok(filter)
        }
        match self {
            Elements::Bytes(values) => of(values),
            Elements::Int(values) => of(values),
            Elements::Long(values) => of(values),
        }
    }

    fn answers(&self, filter: &Sbbf) -> String {
        fn of<T: AsBytes>(values: &[T], filter: &Sbbf) -> String {
            values.iter().map(|x| if filter.check(x) { '1' } else { '0' }).collect()
        }
        match self {
            Elements::Bytes(values) => of(values, filter),
            Elements::Int(values) => of(values, filter),
            Elements::Long(values) => of(values, filter),
        }
    }
}

/// One row group, a column for each kind.
fn write_file(path: &str, columns: &[Elements]) -> Result<(), Box<dyn Error>> {
    let properties = WriterProperties::builder()
        .set_bloom_filter_enabled(true)
        .set_bloom_filter_fpp(FPP)
        .build();
    let mut writer = SerializedFileWriter::new(File::create(path)?, Arc::new(parse_message_type(SCHEMA)?), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (kind, elements) in KINDS.iter().zip(columns) {
        let mut column = group.next_column()?.ok_or("no such column")?;
        match elements {
            Elements::Bytes(values) if *kind == "uuid" => {
                let values: Vec<_> = values.iter().map(|x| x.clone().into()).collect();
                column.typed::<FixedLenByteArrayType>().write_batch(&values, None, None)?
            }
            Elements::Bytes(values) => column.typed::<ByteArrayType>().write_batch(values, None, None)?,
            Elements::Int(values) => column.typed::<Int32Type>().write_batch(values, None, None)?,
            Elements::Long(values) => column.typed::<Int64Type>().write_batch(values, None, None)?,
        };
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: arrow-rs FOLDER")?;
    let lines = fs::read_to_string(format!("{folder}/elements.tsv"))?;
    let of = |kind: &str, part: Option<&str>| -> Result<Elements, Box<dyn Error>> {
        let fields = lines.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        Elements::read(kind, &fields.filter(|x| x[0] == kind && part.is_none_or(|part| x[1] == part)).map(|x| x[2]).collect::<Vec<_>>())
    };
    let present = KINDS.iter().map(|kind| of(kind, Some("present"))).collect::<Result<Vec<_>, _>>()?;
    let all = KINDS.iter().map(|kind| of(kind, None)).collect::<Result<Vec<_>, _>>()?;
    let mut filters = File::create(format!("{folder}/filters.tsv"))?;
    let mut answers = File::create(format!("{folder}/answers.tsv"))?;

    for line in fs::read_to_string(format!("{folder}/sql.tsv"))?.lines() {
        let [name, kind, stream] = line.split('\t').collect::<Vec<_>>()[..] else { return Err("sql.tsv has three fields".into()) };
        let elements = &all[KINDS.iter().position(|x| *x == kind).ok_or("no such kind")?];
        writeln!(answers, "{name}\t{kind}\t{}", elements.answers(&Sbbf::from_bytes(&unhex(stream)?)?))?;
    }
    let path = format!("{folder}/file.parquet");
    write_file(&path, &present)?;
    let reading = ReaderProperties::builder().set_read_bloom_filter(true).build();
    let file = SerializedFileReader::new_with_options(File::open(&path)?, ReadOptionsBuilder::new().with_reader_properties(reading).build())?;
    let group = file.get_row_group(0)?;
    for (i, kind) in KINDS.iter().enumerate() {
        let filter = present[i].filter()?;
        let mut stream = Vec::new();
        filter.write(&mut stream)?;
        writeln!(filters, "put\t{kind}\t{}", hex(&stream))?;
        writeln!(answers, "put\t{kind}\t{}", all[i].answers(&filter))?;
        let filter = group.get_column_bloom_filter(i).ok_or("the file has no filter")?;
        writeln!(answers, "file\t{kind}\t{}", all[i].answers(filter))?;
    }
    Ok(())
}
