package peers;

import java.nio.file.*;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
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
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.runtime.jobgraph.*;
import org.apache.flink.runtime.minicluster.*;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * FlinkPeer count|pass|running BOOTSTRAP IN OUT WORKDIR INTERVAL_MS PARALLELISM hashmap|rocksdb
 *
 * Goes on from the last checkpoint in WORKDIR, if there is one.
 */
public class FlinkPeer {
  public static void main(String[] a) throws Exception {
    String bootstrap = a[1], in = a[2], out = a[3], work = a[4], backend = a[7];
    long interval = Long.parseLong(a[5]);
    int parallelism = Integer.parseInt(a[6]);
    Path checkpoints = Path.of(work, "checkpoints");

    Configuration conf = new Configuration();
    conf.set(StateBackendOptions.STATE_BACKEND, backend);
    conf.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    conf.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoints.toUri().toString());
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
        .setValueOnlyDeserializer(new SimpleStringSchema());
    if (a[0].equals("count")) source.setBounded(OffsetsInitializer.latest());

    var record = KafkaRecordSerializationSchema.<Tuple2<String, String>>builder().setTopic(out)
        .setKeySerializationSchema(new KeyBytes()).setValueSerializationSchema(new ValueBytes()).build();
    KafkaSink<Tuple2<String, String>> sink = KafkaSink.<Tuple2<String, String>>builder()
        .setBootstrapServers(bootstrap)
        .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .setTransactionalIdPrefix(out)
        .setProperty("transaction.timeout.ms", "600000")
        .setRecordSerializer(record).build();

    var stamps = WatermarkStrategy.<String>forBoundedOutOfOrderness(Duration.ofSeconds(5));
    DataStream<String> values = env.fromSource(source.build(), stamps, "values");
    Jobs.named(a[0], values).sinkTo(sink);

    JobGraph job = env.getStreamGraph().getJobGraph();
    Optional<Path> last = lastCheckpoint(checkpoints);
    if (last.isPresent()) job.setSavepointRestoreSettings(
        SavepointRestoreSettings.forPath(last.get().toUri().toString(), false, RecoveryClaimMode.CLAIM));
    var cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
        .setConfiguration(conf).setNumTaskManagers(1).setNumSlotsPerTaskManager(parallelism).build());
    cluster.start();
    System.out.println("MARK start " + System.currentTimeMillis());
    cluster.executeJobBlocking(job);
    System.out.println("MARK end " + System.currentTimeMillis());
    cluster.close();
    System.exit(0);
  }

  /** A checkpoint is complete once its metadata is there: `checkpoints/JOB/chk-N/_metadata`. */
  static Optional<Path> lastCheckpoint(Path checkpoints) throws Exception {
    if (!Files.exists(checkpoints)) return Optional.empty();
    try (Stream<Path> all = Files.find(checkpoints, 3, (path, attributes) -> path.endsWith("_metadata"))) {
      return all.max(Comparator.comparing(path -> path.toFile().lastModified())).map(Path::getParent);
    }
  }

  static class KeyBytes implements SerializationSchema<Tuple2<String, String>> {
    /** A record that was only passed on has no key. */
    public byte[] serialize(Tuple2<String, String> t) { return t.f0.isEmpty() ? null : t.f0.getBytes(); }
  }

  static class ValueBytes implements SerializationSchema<Tuple2<String, String>> {
    public byte[] serialize(Tuple2<String, String> t) { return t.f1.getBytes(); }
  }
}
