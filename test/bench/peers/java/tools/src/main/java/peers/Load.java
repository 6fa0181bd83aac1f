package peers;

import java.io.BufferedWriter;
import java.io.FileWriter;
import java.util.*;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Load BOOTSTRAP TOPIC RECORDS FILE: the deterministic input of JOB.md, into a topic of 4 partitions, and as "time TAB line" into FILE. */
public class Load {
  static final long BASE = 1_700_000_000_000L;           // a multiple of 10 s
  static final long FLUSH = BASE + 30L * 86_400_000L;    // timestamp of the empty last record of each partition
  static final int PARTITIONS = 4, VOCABULARY = 10_000;
  static int state = 42;

  static int next() {                                    // mulberry32
    int t = state += 0x6D2B79F5;
    t = (t ^ (t >>> 15)) * (t | 1);
    t ^= t + (t ^ (t >>> 7)) * (t | 61);
    return t ^ (t >>> 14);
  }
  static int below(int n) { return (int) ((next() & 0xffffffffL) % n); }
  static double unit() { return (next() & 0xffffffffL) / 4294967296.0; }

  public static void main(String[] a) throws Exception {
    String bootstrap = a[0], topic = a[1];
    int records = Integer.parseInt(a[2]);

    String[] words = new String[VOCABULARY];
    Set<String> seen = new HashSet<>();
    for (int k = 0; k < VOCABULARY; k++) {
      StringBuilder b = new StringBuilder();
      do {
        b.setLength(0);
        int len = 3 + below(7);
        for (int j = 0; j < len; j++) b.append((char) ('a' + below(26)));
      } while (!seen.add(b.toString()));
      words[k] = b.toString();
    }
    double[] cumulative = new double[VOCABULARY];
    double sum = 0;
    for (int k = 0; k < VOCABULARY; k++) cumulative[k] = sum += 1.0 / (k + 1);

    long bytes = 0, t0 = System.currentTimeMillis();
    try (var producer = Clients.producer(bootstrap, 20);
         BufferedWriter dump = new BufferedWriter(new FileWriter(a[3]), 1 << 20)) {
      StringBuilder b = new StringBuilder();
      for (int i = 0; i < records; i++) {
        b.setLength(0);
        int n = 8 + below(5);
        for (int j = 0; j < n; j++) {
          int k = Arrays.binarySearch(cumulative, unit() * sum);
          if (k < 0) k = Math.min(-k - 1, VOCABULARY - 1);
          if (j > 0) b.append(' ');
          b.append(words[k]);
        }
        long ts = BASE + i;
        if (below(100) == 0) ts = Math.max(BASE, ts - 1 - below(2000));
        String line = b.toString();
        bytes += line.length();
        producer.send(new ProducerRecord<>(topic, i % PARTITIONS, ts, null, line));
        dump.write(ts + "\t" + line + "\n");
      }
      for (int q = 0; q < PARTITIONS; q++) producer.send(new ProducerRecord<>(topic, q, FLUSH, null, ""));
      producer.flush();
    }
    double s = (System.currentTimeMillis() - t0) / 1000.0;
    System.out.printf(Locale.ROOT, "{\"loaded\":%d,\"valueBytes\":%d,\"seconds\":%.2f}%n", records, bytes, s);
  }
}
