package peers;

import java.io.*;
import java.time.Duration;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Traffic BOOTSTRAP IN OUT KEYS RATE FOLDER: first KEYS records of a key each, then RATE records/s of the first tenth of the keys
 * in turn, until a line comes in; reads OUT read_committed meanwhile, and until every record is counted in it.
 *
 * Prints "AT ms sent counted" often, and "SENT n BADKEYS n" at the end. FOLDER/sent gets "ms total" as records are sent,
 * FOLDER/results "ms value" for every result, in the order of its partition.
 */
public class Traffic {
  /** Time for the last results, and time in which a doubled one may still come. */
  static final long PATIENCE_MS = 60_000, EXTRA_MS = 2_000;
  static final int TICK_MS = 5, TELL_MS = 50;

  static int keys;
  static volatile boolean stopped;
  static volatile long sent, counted;
  static volatile long stoppedAt = Long.MAX_VALUE;
  static long badKeys;

  public static void main(String[] a) throws Exception {
    keys = Integer.parseInt(a[3]);
    Thread reader = new Thread(() -> read(a[0], a[2], a[5] + "/results"));
    reader.start();
    daemon(() -> { if (System.in.read() >= 0) stopped = true; });
    daemon(() -> { for (;; Thread.sleep(TELL_MS)) System.out.println("AT " + System.currentTimeMillis() + " " + sent + " " + counted); });
    try (var producer = Clients.producer(a[0], 2); var log = new PrintWriter(a[5] + "/sent")) {
      produce(producer, a[1], Integer.parseInt(a[4]), log);
    }
    stoppedAt = System.currentTimeMillis();
    reader.join();
    System.out.println("SENT " + sent + " BADKEYS " + badKeys);
  }

  static void produce(KafkaProducer<String, String> producer, String topic, int rate, PrintWriter log) throws Exception {
    long n = 0;
    for (; n < keys && !stopped; n++) {
      producer.send(record(topic, n));
      if (n % 10_000 == 9_999) log.println(System.currentTimeMillis() + " " + (sent = n + 1));
    }
    long start = System.currentTimeMillis();
    for (; !stopped; Thread.sleep(TICK_MS)) {
      long now = System.currentTimeMillis();
      for (long due = keys + (now - start) * rate / 1000; n < due; n++) producer.send(record(topic, n));
      log.println(now + " " + (sent = n));
    }
    sent = n;
    producer.flush();
  }

  static ProducerRecord<String, String> record(String topic, long n) {
    return new ProducerRecord<>(topic, (int) (n % 4), null, null, "k" + (n < keys ? n : (n - keys) % (keys / 10)));
  }

  static void read(String bootstrap, String topic, String file) {
    int[] last = new int[keys];
    try (var consumer = Clients.consumer(bootstrap, topic); var log = new PrintWriter(new BufferedWriter(new FileWriter(file), 1 << 20))) {
      for (long until = Long.MAX_VALUE; System.currentTimeMillis() < until; ) {
        var batch = consumer.poll(Duration.ofMillis(20));
        long now = System.currentTimeMillis(), more = 0;
        for (var r : batch) {
          String value = r.value();
          log.println(now + " " + value);
          if (r.key() == null || !value.contains("\"" + r.key() + "\"")) { badKeys++; continue; }
          int key = Integer.parseInt(r.key().substring(1)), count = countIn(value);
          more += count - last[key];
          last[key] = count;
        }
        counted += more;
        if (stoppedAt < Long.MAX_VALUE && until == Long.MAX_VALUE) until = stoppedAt + PATIENCE_MS;
        if (until < Long.MAX_VALUE && counted >= sent) until = Math.min(until, now + EXTRA_MS);
      }
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  /** Of {"key":…,"count":…}. */
  static int countIn(String value) {
    return Integer.parseInt(value, value.lastIndexOf(':') + 1, value.length() - 1, 10);
  }

  interface Task { void run() throws Exception; }

  static void daemon(Task task) {
    Thread thread = new Thread(() -> { try { task.run(); } catch (Exception broken) { throw new IllegalStateException(broken); } });
    thread.setDaemon(true);
    thread.start();
  }
}
