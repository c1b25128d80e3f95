// The filters of parquet-java: ParquetJava FOLDER, as parquet_writers.pl says.
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter;
import org.apache.parquet.column.values.bloomfilter.BloomFilter;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.format.BloomFilterHeader;
import org.apache.parquet.format.Util;
import org.apache.parquet.format.converter.ParquetMetadataConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

class ParquetJava {
    static final double FPP = 0.01;
    static final List<String> KINDS = List.of("text", "bytea", "uuid", "integer", "bigint");
    static final MessageType SCHEMA = MessageTypeParser.parseMessageType("message of_all_kinds {"
        + " required binary text (STRING); required binary bytea; required fixed_len_byte_array(16) uuid (UUID);"
        + " required int32 integer; required int64 bigint; }");

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        Map<String, List<Object>> present = new HashMap<>(), all = new HashMap<>();
        for (String line : Files.readAllLines(folder.resolve("elements.tsv"))) {
            String[] fields = line.split("\t", -1);
            Object element = element(fields[0], fields[2]);
            all.computeIfAbsent(fields[0], kind -> new ArrayList<>()).add(element);
            if (fields[1].equals("present"))
                present.computeIfAbsent(fields[0], kind -> new ArrayList<>()).add(element);
        }
        Path file = folder.resolve("file.parquet");
        write(file, present);
        try (PrintStream filters = new PrintStream(folder.resolve("filters.tsv").toFile(), "US-ASCII");
                PrintStream answers = new PrintStream(folder.resolve("answers.tsv").toFile(), "US-ASCII");
                ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file), ParquetReadOptions.builder(new PlainParquetConfiguration()).build())) {
            for (String line : Files.readAllLines(folder.resolve("sql.tsv"))) {
                String[] fields = line.split("\t", -1);
                answers.printf("%s\t%s\t%s\n", fields[0], fields[1], answers(read(unhex(fields[2])), all.get(fields[1])));
            }
            for (String kind : KINDS) {
                BloomFilter filter = new BlockSplitBloomFilter(BlockSplitBloomFilter.optimalNumOfBits(present.get(kind).size(), FPP) / 8);
                present.get(kind).forEach(x -> filter.insertHash(hash(filter, x)));
                filters.printf("put\t%s\t%s\n", kind, hex(stream(filter)));
                answers.printf("put\t%s\t%s\n", kind, answers(filter, all.get(kind)));
                BloomFilter read = reader.getBloomFilterDataReader(0).readBloomFilter(reader.getRowGroups().get(0).getColumns().get(KINDS.indexOf(kind)));
                answers.printf("file\t%s\t%s\n", kind, answers(read, all.get(kind)));
            }
            if (filters.checkError() || answers.checkError())
                throw new IOException("cannot write to " + folder);
        }
    }

    static Object element(String kind, String value) {
        switch (kind) {
            case "text": return Binary.fromString(value);
            case "integer": return Integer.valueOf(value);
            case "bigint": return Long.valueOf(value);
            default: return Binary.fromConstantByteArray(unhex(value.replace("-", "")));
        }
    }

    static long hash(BloomFilter filter, Object element) {
        if (element instanceof Binary)
            return filter.hash((Binary) element);
        return element instanceof Integer ? filter.hash(((Integer) element).intValue()) : filter.hash(((Long) element).longValue());
    }

    static String answers(BloomFilter filter, List<Object> elements) {
        StringBuilder answers = new StringBuilder();
        elements.forEach(x -> answers.append(filter.findHash(hash(filter, x)) ? '1' : '0'));
        return answers.toString();
    }

    // What parquet-java has inside of its writer and its reader of files.
    static byte[] stream(BloomFilter filter) throws IOException {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        Util.writeBloomFilterHeader(ParquetMetadataConverter.toBloomFilterHeader(filter), stream);
        filter.writeTo(stream);
        return stream.toByteArray();
    }

    static BloomFilter read(byte[] stream) throws IOException {
        ByteArrayInputStream rest = new ByteArrayInputStream(stream);
        BloomFilterHeader header = Util.readBloomFilterHeader(rest);
        byte[] bits = rest.readAllBytes();
        if (bits.length != header.getNumBytes())
            throw new IOException(bits.length + " bytes, not " + header.getNumBytes());
        return new BlockSplitBloomFilter(bits);
    }

    // One row group, a column for each kind.
    static void write(Path file, Map<String, List<Object>> elements) throws IOException {
        int rows = elements.get("text").size();
        ExampleParquetWriter.Builder builder = ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withType(SCHEMA).withConf(new PlainParquetConfiguration()).withWriteMode(ParquetFileWriter.Mode.OVERWRITE)
            .withDictionaryEncoding(false).withBloomFilterEnabled(true);
        for (String kind : KINDS)
            builder.withBloomFilterNDV(kind, rows).withBloomFilterFPP(kind, FPP);
        try (ParquetWriter<Group> writer = builder.build()) {
            for (int i = 0; i < rows; i++) {
                Group row = new SimpleGroup(SCHEMA);
                for (String kind : KINDS) {
                    Object element = elements.get(kind).get(i);
                    if (element instanceof Binary)
                        row.add(kind, (Binary) element);
                    else if (element instanceof Integer)
                        row.add(kind, (int) element);
                    else
                        row.add(kind, (long) element);
                }
                writer.write(row);
            }
        }
    }

    static byte[] unhex(String digits) {
        byte[] bytes = new byte[digits.length() / 2];
        for (int i = 0; i < bytes.length; i++)
            bytes[i] = (byte) Integer.parseInt(digits.substring(2 * i, 2 * i + 2), 16);
        return bytes;
    }

    static String hex(byte[] bytes) {
        StringBuilder digits = new StringBuilder();
        for (byte b : bytes)
            digits.append(String.format("%02x", b));
        return digits.toString();
    }
}
