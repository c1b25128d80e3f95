/*
 * A function of Spark's SQL that asks a filter, which goes to the executors
 * with the function.
 */
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.util.sketch.BloomFilter;

public record MightContain(BloomFilter filter) implements UDF1<Object, Boolean> {
    @Override
    public Boolean call(Object element) {
        return element != null && filter.mightContain(element);
    }
}
