"""Round trip between Spark and bloomext, driven by test/t/interop/spark.pl.

Usage: roundtrip.py DIR CLASSPATH N P.  Reads, under DIR,

    elements.csv  id, present, title (hex), number; NULL is one
    sql.tsv       strategy, column, filter (hex): what SQL made of what is present

and writes

    spark.tsv     column, filter (hex): what df.stat.bloomFilter makes of it
    guava.tsv     filter (hex): Guava's, of the titles, one for each partition
    found/*.csv   maker, column, id: the elements that a filter says it has; the
                  maker is spark, or a strategy for what SQL made

PySpark has no df.stat.bloomFilter of its own: the JVM's is called.  Releases
before 4 would take a number that is NULL for 0, and fail at a text.  CLASSPATH has
the two Java classes of this folder, compiled, and Guava where Spark's own is
too old to have writeTo.
"""
import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

directory, classpath, n, p = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.extraClassPath", classpath)
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.local.dir", directory)
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
jvm = spark._jvm
BloomFilter = jvm.org.apache.spark.util.sketch.BloomFilter


def written(bloom_filter):
    stream = jvm.java.io.ByteArrayOutputStream()
    bloom_filter.writeTo(stream)
    return stream.toByteArray()


def read(stream):
    return BloomFilter.readFrom(jvm.java.io.ByteArrayInputStream(stream))


def write_found(maker, column, bloom_filter):
    function = f"in_{maker}_{column}"
    spark._jsparkSession.udf().register(
        function, jvm.MightContain(bloom_filter), jvm.org.apache.spark.sql.types.DataTypes.BooleanType
    )
    found = elements.where(f"{function}({column})").select(lit(maker).alias("maker"), lit(column).alias("column"), "id")
    found.write.mode("append").csv(f"{directory}/found")


elements = (
    spark.read.schema("id int, present boolean, title string, number long")
    .csv(f"{directory}/elements.csv", nullValue="NULL")
    .selectExpr("id", "present", "decode(unhex(title), 'UTF-8') AS title", "number")
    .repartition(8)
    .cache()
)
present = elements.where("present")

with open(f"{directory}/spark.tsv", "w") as streams:
    for column in "title", "number", "id":
        bloom_filter = present.select(column).dropna()._jdf.stat().bloomFilter(column, n, p)
        print(column, written(bloom_filter).hex(), sep="\t", file=streams)
        write_found("spark", column, bloom_filter)

with open(f"{directory}/guava.tsv", "w") as streams:
    titles = present.select("title")._jdf
    for stream in titles.mapPartitions(
        jvm.PartitionFilter(n, p), jvm.org.apache.spark.sql.Encoders.BINARY()
    ).collectAsList():
        print(stream.hex(), file=streams)

with open(f"{directory}/sql.tsv") as rows:
    for row in rows:
        strategy, column, stream = row.rstrip("\n").split("\t")
        write_found(strategy, column, read(bytearray.fromhex(stream)))
