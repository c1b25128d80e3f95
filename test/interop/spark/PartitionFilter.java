/*
 * One filter of Guava a partition, as writeTo has it, of the texts of the first
 * column.
 */
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;

public record PartitionFilter(long expected, double fpp) implements MapPartitionsFunction<Row, byte[]> {
    @Override
    public Iterator<byte[]> call(Iterator<Row> rows) throws IOException {
        BloomFilter<CharSequence> filter = BloomFilter.create(Funnels.stringFunnel(StandardCharsets.UTF_8), expected, fpp);
        while (rows.hasNext()) {
            Row row = rows.next();
            if (!row.isNullAt(0))
                filter.put(row.getString(0));
        }
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        filter.writeTo(stream);
        return List.of(stream.toByteArray()).iterator();
    }
}
