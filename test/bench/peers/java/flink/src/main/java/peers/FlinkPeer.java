package peers;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.*;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.*;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.runtime.minicluster.*;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** FlinkPeer count BOOTSTRAP IN OUT WORKDIR INTERVAL_MS PARALLELISM hashmap|rocksdb */
public class FlinkPeer {
  public static void main(String[] a) throws Exception {
    String bootstrap = a[1], in = a[2], out = a[3], work = a[4], backend = a[7];
    long interval = Long.parseLong(a[5]);
    int parallelism = Integer.parseInt(a[6]);

    Configuration conf = new Configuration();
    conf.set(StateBackendOptions.STATE_BACKEND, backend);
    conf.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    conf.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, "file://" + work + "/checkpoints");
    conf.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    conf.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(512));
    conf.set(CoreOptions.TMP_DIRS, work);
    conf.set(RestOptions.BIND_PORT, "0");

    var env = StreamExecutionEnvironment.getExecutionEnvironment(conf);
    env.setParallelism(parallelism);
    env.getConfig().enableObjectReuse();
    env.enableCheckpointing(interval, CheckpointingMode.EXACTLY_ONCE);

    KafkaSourceBuilder<String> source = KafkaSource.<String>builder()
        .setBootstrapServers(bootstrap).setTopics(in).setGroupId(out)
        .setStartingOffsets(OffsetsInitializer.earliest())
        .setValueOnlyDeserializer(new SimpleStringSchema())
        .setBounded(OffsetsInitializer.latest());

    var record = KafkaRecordSerializationSchema.<Tuple2<String, String>>builder().setTopic(out)
        .setKeySerializationSchema(new KeyBytes()).setValueSerializationSchema(new ValueBytes()).build();
    KafkaSink<Tuple2<String, String>> sink = KafkaSink.<Tuple2<String, String>>builder()
        .setBootstrapServers(bootstrap)
        .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .setTransactionalIdPrefix(out)
        .setProperty("transaction.timeout.ms", "120000")
        .setRecordSerializer(record).build();

    var stamps = WatermarkStrategy.<String>forBoundedOutOfOrderness(Duration.ofSeconds(5));
    DataStream<String> lines = env.fromSource(source.build(), stamps, "lines");
    lines.flatMap(new Split()).keyBy(w -> w)
        .window(TumblingEventTimeWindows.of(Duration.ofSeconds(10)))
        .aggregate(new Count(), new Label())
        .sinkTo(sink);

    var cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
        .setConfiguration(conf).setNumTaskManagers(1).setNumSlotsPerTaskManager(parallelism).build());
    cluster.start();
    System.out.println("MARK start " + System.currentTimeMillis());
    cluster.executeJobBlocking(env.getStreamGraph().getJobGraph());
    System.out.println("MARK end " + System.currentTimeMillis());
    cluster.close();
    System.exit(0);
  }

  static class KeyBytes implements SerializationSchema<Tuple2<String, String>> {
    public byte[] serialize(Tuple2<String, String> t) { return t.f0.getBytes(); }
  }

  static class ValueBytes implements SerializationSchema<Tuple2<String, String>> {
    public byte[] serialize(Tuple2<String, String> t) { return t.f1.getBytes(); }
  }

  static class Split implements FlatMapFunction<String, String> {
    public void flatMap(String line, Collector<String> out) {
      for (int i = 0, j; i < line.length(); i = j + 1) {
        j = line.indexOf(' ', i);
        if (j < 0) j = line.length();
        if (j > i) out.collect(line.substring(i, j));
      }
    }
  }

  static class Count implements AggregateFunction<String, Long, Long> {
    public Long createAccumulator() { return 0L; }
    public Long add(String w, Long n) { return n + 1; }
    public Long getResult(Long n) { return n; }
    public Long merge(Long a, Long b) { return a + b; }
  }

  static class Label extends ProcessWindowFunction<Long, Tuple2<String, String>, String, TimeWindow> {
    public void process(String w, Context c, Iterable<Long> n, Collector<Tuple2<String, String>> out) {
      out.collect(Tuple2.of(w, "{\"word\":\"" + w + "\",\"windowStart\":" + c.window().getStart()
          + ",\"count\":" + n.iterator().next() + "}"));
    }
  }
}
