package peers;

import static org.apache.spark.sql.functions.*;

import org.apache.spark.sql.*;
import org.apache.spark.sql.streaming.*;

/** SparkPeer BOOTSTRAP IN WORKDIR CORES: writes JSON files to WORKDIR/out, by the exactly-once file sink (its Kafka sink is at-least-once). */
public class SparkPeer {
  public static void main(String[] a) throws Exception {
    String bootstrap = a[0], in = a[1], work = a[2], cores = a[3];
    SparkSession spark = SparkSession.builder().master("local[" + cores + "]").appName("peer")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", cores)
        .config("spark.local.dir", work)
        .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate();
    Dataset<Row> lines = spark.readStream().format("kafka").option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", in).option("startingOffsets", "earliest").load();

    System.out.println("MARK start " + System.currentTimeMillis());
    lines.withWatermark("timestamp", "5 seconds")   // before explode: the word filter must not hide the flush records from it
        .select(col("timestamp"), explode(split(col("value").cast("string"), " ")).as("word"))
        .where(col("word").notEqual(""))
        .groupBy(window(col("timestamp"), "10 seconds"), col("word")).count()
        .select(col("word"), unix_millis(col("window.start")).as("windowStart"), col("count"))
        .writeStream().outputMode("append").format("json").option("path", work + "/out")
        .option("checkpointLocation", work + "/checkpoint").trigger(Trigger.AvailableNow())
        .start().awaitTermination();
    System.out.println("MARK end " + System.currentTimeMillis());
    spark.stop();
  }
}
