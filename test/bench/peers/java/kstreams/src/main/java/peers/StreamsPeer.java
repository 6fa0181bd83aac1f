package peers;

import java.time.Duration;
import java.util.*;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.processor.TimestampExtractor;
import org.apache.kafka.streams.state.*;

/**
 * StreamsPeer count|pass BOOTSTRAP IN OUT WORKDIR INTERVAL_MS THREADS
 *
 * count: Kafka Streams has no end of input, and its stream time is the highest timestamp seen by a task, not a minimum over
 * its upstreams: hence a grace of a day; with 5 seconds it drops most of the words. The flush records of IN are ignored,
 * and once the group has committed all of IN this program writes one flush record into every partition of the
 * repartition topic and waits until the group has committed those. pass has no end.
 */
public class StreamsPeer {
  static final long FLUSH = 1_700_000_000_000L + 30L * 86_400_000L;

  public static class Stamps implements TimestampExtractor {
    public long extract(ConsumerRecord<Object, Object> r, long partitionTime) {
      return r.timestamp() == FLUSH && r.value() instanceof String s && s.isEmpty() ? Math.max(0, partitionTime) : r.timestamp();
    }
  }

  public static void main(String[] a) throws Exception {
    String bootstrap = a[1], in = a[2], out = a[3], app = "ks-" + out;

    Properties p = new Properties();
    p.put(StreamsConfig.APPLICATION_ID_CONFIG, app);
    p.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
    p.put(StreamsConfig.STATE_DIR_CONFIG, a[4] + "/state");
    p.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    p.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, a[5]);
    p.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, a[6]);
    p.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 64 << 20);
    p.put(StreamsConfig.producerPrefix("transaction.timeout.ms"), 120000);
    p.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
    p.put(StreamsConfig.consumerPrefix("max.poll.records"), 5000);

    KafkaStreams streams = new KafkaStreams(a[0].equals("pass") ? pass(in, out) : count(in, out), p);
    streams.setUncaughtExceptionHandler(e -> { e.printStackTrace(); System.exit(1); return null; });

    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
      Map<TopicPartition, Long> end = ends(admin, in, 4);
      System.out.println("MARK start " + System.currentTimeMillis());
      streams.start();
      if (a[0].equals("pass")) Thread.sleep(Long.MAX_VALUE);
      awaitCommitted(admin, app, end);
      String words = app + "-words-repartition";
      try (var producer = new KafkaProducer<>(Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new StringSerializer())) {
        for (int i = 0; i < 4; i++) producer.send(new ProducerRecord<>(words, i, FLUSH, "\u0001flush", ""));
      }
      awaitCommitted(admin, app, ends(admin, words, 4));
      System.out.println("MARK end " + System.currentTimeMillis());
      streams.close(Duration.ofSeconds(20));
      admin.deleteTopics(admin.listTopics().names().get().stream().filter(name -> name.startsWith(app)).toList()).all().get();
    }
    System.exit(0);
  }

  static Topology pass(String in, String out) {
    StreamsBuilder b = new StreamsBuilder();
    var bytes = Serdes.ByteArray();
    b.stream(in, Consumed.with(bytes, bytes)).to(out, Produced.with(bytes, bytes));
    return b.build();
  }

  static Topology count(String in, String out) {
    StreamsBuilder b = new StreamsBuilder();
    var strings = Serdes.String();
    DslStoreSuppliers memory = new BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers();
    b.stream(in, Consumed.with(strings, strings).withTimestampExtractor(new Stamps()))
        .flatMap((k, line) -> split(line))
        .groupByKey(Grouped.<String, String>as("words").withKeySerde(strings).withValueSerde(strings))
        .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofSeconds(10), Duration.ofDays(1)))
        .count(Materialized.<String, Long, WindowStore<Bytes, byte[]>>as(memory).withKeySerde(strings).withValueSerde(Serdes.Long()))
        .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()))
        .toStream((w, n) -> w)
        .map((w, n) -> KeyValue.pair(w.key(), "{\"word\":\"" + w.key() + "\",\"windowStart\":" + w.window().start() + ",\"count\":" + n + "}"))
        .to(out, Produced.with(strings, strings));
    return b.build();
  }

  static List<KeyValue<String, String>> split(String line) {
    List<KeyValue<String, String>> words = new ArrayList<>(16);
    for (int i = 0, j; i < line.length(); i = j + 1) {
      j = line.indexOf(' ', i);
      if (j < 0) j = line.length();
      if (j > i) words.add(KeyValue.pair(line.substring(i, j), ""));
    }
    return words;
  }

  static Map<TopicPartition, Long> ends(Admin admin, String topic, int n) throws Exception {
    Map<TopicPartition, OffsetSpec> ask = new HashMap<>();
    for (int i = 0; i < n; i++) ask.put(new TopicPartition(topic, i), OffsetSpec.latest());
    return admin.listOffsets(ask).all().get().entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, e -> e.getValue().offset()));
  }

  static void awaitCommitted(Admin admin, String group, Map<TopicPartition, Long> end) throws Exception {
    for (;; Thread.sleep(50)) {
      try {
        var done = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        if (end.entrySet().stream().allMatch(e -> done.get(e.getKey()) != null && done.get(e.getKey()).offset() >= e.getValue())) return;
      } catch (java.util.concurrent.ExecutionException e) { /* the group does not exist yet */ }
    }
  }
}
