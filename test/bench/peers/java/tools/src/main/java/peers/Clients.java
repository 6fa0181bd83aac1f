package peers;

import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/** Kafka's own clients, as all tools here use them. */
class Clients {
  /** A read_committed one, at the beginning of a topic. */
  static KafkaConsumer<String, String> consumer(String bootstrap, String topic) {
    Map<String, Object> p = Map.of("bootstrap.servers", bootstrap, "isolation.level", "read_committed", "max.poll.records", 10_000);
    var consumer = new KafkaConsumer<>(p, new StringDeserializer(), new StringDeserializer());
    List<TopicPartition> all = consumer.partitionsFor(topic).stream().map(i -> new TopicPartition(topic, i.partition()))
        .sorted(Comparator.comparingInt(TopicPartition::partition)).toList();
    consumer.assign(all);
    consumer.seekToBeginning(all);
    return consumer;
  }

  static KafkaProducer<String, String> producer(String bootstrap, int lingerMs) {
    Map<String, Object> p = Map.of("bootstrap.servers", bootstrap, "batch.size", 65536, "linger.ms", lingerMs, "buffer.memory", 64 << 20);
    return new KafkaProducer<>(p, new StringSerializer(), new StringSerializer());
  }
}
