import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka's own Java client, asked line by line: each line of standard input is a request `{"method": …, …}`, and gets one
 * line of standard output, `{"result": …}` or `{"error": …, "message": …}`, in order. Ends with its input. Bytes are base64.
 *
 *     java Oracle '{"bootstrap.servers": …, …}'
 */
final class Oracle {
  private static final ObjectMapper JSON = new ObjectMapper()
      .configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, true)
      .setDefaultPropertyInclusion(JsonInclude.Include.ALWAYS);

  private final Map<String, Object> connection;
  private final Admin admin;
  private final Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();

  private Oracle(Map<String, Object> connection) {
    this.connection = connection;
    this.admin = Admin.create(connection);
  }

  record TopicRequest(String topic, int partitions, Map<String, String> config) {}
  record DeleteRecordsRequest(String topic, int partition, long before) {}
  record OffsetsRequest(String topic, String which) {}
  record ReadRequest(String topic, Integer partition, Map<Integer, Long> from, String isolation, int timeoutMs) {}
  record ProducerRequest(String producer, Map<String, Object> properties) {}
  record SendRequest(String producer, List<Outgoing> records) {}
  record PartitionRequest(byte[] key, int partitions) {}
  record NamedBytes(String name, byte[] value) {}
  record Outgoing(String topic, Integer partition, Long timestamp, byte[] key, byte[] value, List<NamedBytes> headers) {}
  record Incoming(int partition, long offset, long timestamp, byte[] key, byte[] value, List<NamedBytes> headers) {}
  record Placed(int partition, long offset) {}

  public static void main(String[] arguments) throws Exception {
    @SuppressWarnings("unchecked")
    Map<String, Object> connection = JSON.readValue(arguments[0], Map.class);
    Oracle oracle = new Oracle(connection);
    var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = requests.readLine()) != null; ) {
      System.out.write((JSON.writeValueAsString(oracle.answer(JSON.readTree(line))) + "\n").getBytes(StandardCharsets.UTF_8));
      System.out.flush();
    }
    Runtime.getRuntime().halt(0);   // without waiting for what producers still have to send
  }

  private Map<String, Object> answer(JsonNode request) {
    Map<String, Object> answer = new HashMap<>();
    try {
      answer.put("result", call(request.get("method").asText(), request.get("parameters")));
    } catch (Exception thrown) {
      Throwable cause = thrown instanceof ExecutionException && thrown.getCause() != null ? thrown.getCause() : thrown;
      answer.put("error", cause.getClass().getSimpleName());
      answer.put("message", String.valueOf(cause.getMessage()));
    }
    return answer;
  }

  private Object call(String method, JsonNode parameters) throws Exception {
    return switch (method) {
      case "createTopic" -> createTopic(JSON.treeToValue(parameters, TopicRequest.class));
      case "configureTopic" -> configureTopic(JSON.treeToValue(parameters, TopicRequest.class));
      case "addPartitions" -> addPartitions(JSON.treeToValue(parameters, TopicRequest.class));
      case "deleteTopic" -> admin.deleteTopics(List.of(parameters.get("topic").asText())).all().get();
      case "deleteRecords" -> deleteRecords(JSON.treeToValue(parameters, DeleteRecordsRequest.class));
      case "offsets" -> offsets(JSON.treeToValue(parameters, OffsetsRequest.class));
      case "read" -> read(JSON.treeToValue(parameters, ReadRequest.class));
      case "partitionFor" -> partitionFor(JSON.treeToValue(parameters, PartitionRequest.class));
      case "openProducer" -> openProducer(JSON.treeToValue(parameters, ProducerRequest.class));
      case "send" -> send(JSON.treeToValue(parameters, SendRequest.class));
      case "begin", "commit", "abort", "close" -> onProducer(method, parameters.get("producer").asText());
      default -> throw new IllegalArgumentException("no method " + method);
    };
  }

  private Void createTopic(TopicRequest request) throws Exception {
    var topic = new NewTopic(request.topic, request.partitions, (short) 1).configs(request.config);
    admin.createTopics(List.of(topic)).all().get();
    return awaitPartitions(request);
  }

  private Void configureTopic(TopicRequest request) throws Exception {
    Collection<AlterConfigOp> changes = request.config.entrySet().stream()
        .map(entry -> new AlterConfigOp(new ConfigEntry(entry.getKey(), entry.getValue()), AlterConfigOp.OpType.SET))
        .collect(Collectors.toList());
    var resource = new ConfigResource(ConfigResource.Type.TOPIC, request.topic);
    return admin.incrementalAlterConfigs(Map.of(resource, changes)).all().get();
  }

  private Void addPartitions(TopicRequest request) throws Exception {
    admin.createPartitions(Map.of(request.topic, NewPartitions.increaseTo(request.partitions))).all().get();
    return awaitPartitions(request);
  }

  /** The controller answers before the broker knows of what it made. */
  private Void awaitPartitions(TopicRequest request) throws Exception {
    for (int tries = 0; ; tries++) {
      try {
        if (offsets(new OffsetsRequest(request.topic, "earliest")).size() == request.partitions) return null;
      } catch (ExecutionException unknown) {
        if (!(unknown.getCause() instanceof RetriableException)) throw unknown;
      }
      if (tries == 1000) throw new IllegalStateException(request.topic + " does not come to be");
      Thread.sleep(10);
    }
  }

  private Void deleteRecords(DeleteRecordsRequest request) throws Exception {
    var partition = new TopicPartition(request.topic, request.partition);
    admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(request.before))).all().get();
    return null;
  }

  /** By partition. */
  private List<Long> offsets(OffsetsRequest request) throws Exception {
    boolean stable = request.which.equals("last-stable");
    OffsetSpec which = request.which.equals("earliest") ? OffsetSpec.earliest() : OffsetSpec.latest();
    var options = new ListOffsetsOptions(stable ? IsolationLevel.READ_COMMITTED : IsolationLevel.READ_UNCOMMITTED);
    List<TopicPartition> partitions = partitionsOf(request.topic);
    var found = admin.listOffsets(partitions.stream().collect(Collectors.toMap(one -> one, one -> which)), options).all().get();
    return partitions.stream().map(one -> found.get(one).offset()).toList();
  }

  private List<TopicPartition> partitionsOf(String topic) throws Exception {
    var description = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
    return description.partitions().stream().map(one -> new TopicPartition(topic, one.partition())).toList();
  }

  /** From the first offset, or from where the request says, to the end that there is when it begins. */
  private List<Incoming> read(ReadRequest request) throws Exception {
    List<TopicPartition> partitions = request.partition == null
        ? partitionsOf(request.topic)
        : List.of(new TopicPartition(request.topic, request.partition));
    Map<String, Object> properties = new HashMap<>(connection);
    properties.putAll(Map.of("isolation.level", request.isolation, "auto.offset.reset", "none", "max.poll.records", 10_000));
    // Else the end of the consumer waits for half a second, with its last fetch, for records that do not come.
    properties.put("fetch.max.wait.ms", 5);
    try (var consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      for (TopicPartition one : partitions)
        if (request.from.containsKey(one.partition())) consumer.seek(one, request.from.get(one.partition()));
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      List<Incoming> records = new ArrayList<>();
      long giveUpAt = System.nanoTime() + request.timeoutMs * 1_000_000L;
      while (partitions.stream().anyMatch(one -> consumer.position(one) < ends.get(one))) {
        if (System.nanoTime() > giveUpAt) throw new IllegalStateException("no end of " + request.topic + " in time");
        for (var record : consumer.poll(Duration.ofMillis(100)))
          if (record.offset() < ends.get(new TopicPartition(record.topic(), record.partition()))) records.add(incoming(record));
      }
      return records;
    }
  }

  private static Incoming incoming(ConsumerRecord<byte[], byte[]> record) {
    List<NamedBytes> headers = new ArrayList<>();
    for (Header header : record.headers()) headers.add(new NamedBytes(header.key(), header.value()));
    return new Incoming(record.partition(), record.offset(), record.timestamp(), record.key(), record.value(), headers);
  }

  private int partitionFor(PartitionRequest request) {
    return BuiltInPartitioner.partitionForKey(request.key, request.partitions);
  }

  private Void openProducer(ProducerRequest request) {
    Map<String, Object> properties = new HashMap<>(connection);
    properties.putAll(request.properties);
    var producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
    if (request.properties.containsKey("transactional.id")) producer.initTransactions();
    producers.put(request.producer, producer);
    return null;
  }

  /** All at once, so that those of a partition share a batch if the producer lingers. */
  private List<Placed> send(SendRequest request) throws Exception {
    KafkaProducer<byte[], byte[]> producer = producers.get(request.producer);
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (Outgoing one : request.records) {
      List<Header> headers = new ArrayList<>();
      for (NamedBytes header : one.headers) headers.add(new RecordHeader(header.name, header.value));
      sent.add(producer.send(new ProducerRecord<>(one.topic, one.partition, one.timestamp, one.key, one.value, headers)));
    }
    producer.flush();
    List<Placed> placed = new ArrayList<>();
    for (Future<RecordMetadata> one : sent) placed.add(new Placed(one.get().partition(), one.get().offset()));
    return placed;
  }

  private Void onProducer(String method, String name) {
    KafkaProducer<byte[], byte[]> producer = producers.get(name);
    switch (method) {
      case "begin" -> producer.beginTransaction();
      case "commit" -> producer.commitTransaction();
      case "abort" -> producer.abortTransaction();
      default -> {
        producer.close();
        producers.remove(name);
      }
    }
    return null;
  }
}
