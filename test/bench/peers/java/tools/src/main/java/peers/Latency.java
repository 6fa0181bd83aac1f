package peers;

import java.time.Duration;
import java.util.BitSet;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Latency BOOTSTRAP IN OUT RATE WARM_S MEASURE_S: produces RATE records/s of 100 bytes into IN, reads OUT read_committed, and
 * prints how long a record took from its send to the poll that returned it, of those sent after the warm-up; of their first and
 * second half, too, for an engine that falls behind. Each record, also of the warm-up, must come once, as it was.
 */
public class Latency {
  /** A value: when it was sent (epoch milliseconds), its number, and a pad. */
  static final int TIME = 13, NUMBER = 10;
  static final String PAD = "x".repeat(100 - TIME - NUMBER);
  /** Time for the last results, and time in which a doubled one may still come. */
  static final long PATIENCE_MS = 30_000, EXTRA_MS = 1_000;

  static volatile long sent = Long.MAX_VALUE;   // how many, once all are
  static long warmEnd, half, end;               // epoch milliseconds

  static final BitSet seen = new BitSet();
  static long doubled, wrong;
  static final int[][] histograms = new int[2][120_000];   // milliseconds, of both halves

  public static void main(String[] a) throws Exception {
    int rate = Integer.parseInt(a[3]);
    try (var producer = Clients.producer(a[0], 2); var consumer = Clients.consumer(a[0], a[2])) {
      producer.partitionsFor(a[1]);
      long start = System.currentTimeMillis(), n = 0;
      warmEnd = start + Long.parseLong(a[4]) * 1000;
      end = warmEnd + Long.parseLong(a[5]) * 1000;
      half = (warmEnd + end) / 2;
      Thread reader = new Thread(() -> read(consumer));
      reader.start();
      for (long now; (now = System.currentTimeMillis()) < end; Thread.sleep(2))
        for (long due = (now - start) * rate / 1000; n < due; n++)
          producer.send(new ProducerRecord<>(a[1], (int) (n % 4), null, null, now + String.valueOf(10_000_000_000L + n).substring(1) + PAD));
      producer.flush();
      sent = n;
      reader.join();
    }
    System.out.printf("{\"sent\":%d,\"received\":%d,\"doubled\":%d,\"wrong\":%d,\"p50\":%d,\"p99\":%d,\"max\":%d,\"p50OfHalves\":[%d,%d]}%n",
        sent, seen.cardinality(), doubled, wrong, quantile(0.5, histograms), quantile(0.99, histograms), quantile(1, histograms),
        quantile(0.5, histograms[0]), quantile(0.5, histograms[1]));
  }

  static void read(KafkaConsumer<String, String> consumer) {
    long until = Long.MAX_VALUE;   // epoch milliseconds, known once all are sent
    while (System.currentTimeMillis() < until) {
      var batch = consumer.poll(Duration.ofMillis(20));
      long at = System.currentTimeMillis();
      for (var r : batch) note(r.value(), at);
      if (sent < Long.MAX_VALUE && until == Long.MAX_VALUE) until = at + PATIENCE_MS;
      if (seen.cardinality() >= sent) until = Math.min(until, at + EXTRA_MS);
    }
  }

  static void note(String value, long at) {
    if (value.length() != 100 || !value.endsWith(PAD)) { wrong++; return; }
    long time = Long.parseLong(value, 0, TIME, 10);
    int number = Integer.parseInt(value, TIME, TIME + NUMBER, 10);
    if (seen.get(number)) doubled++;
    seen.set(number);
    if (time < warmEnd || time >= end) return;
    int[] histogram = histograms[time < half ? 0 : 1];
    histogram[(int) Math.min(histogram.length - 1, Math.max(0, at - time))]++;
  }

  /** -1 of nothing. */
  static int quantile(double q, int[]... of) {
    long all = 0, below = 0;
    for (int[] one : of) for (int n : one) all += n;
    for (int ms = 0; ms < of[0].length; ms++) {
      for (int[] one : of) below += one[ms];
      if (below > 0 && below >= q * all) return ms;
    }
    return -1;
  }
}
