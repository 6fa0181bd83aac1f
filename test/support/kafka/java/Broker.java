import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A Kafka broker as a child process: it formats its folder if that is new, and ends when its standard input does, so with
 * its parent, however that ends.
 *
 *     java Broker FOLDER keep|remove CLUSTER_ID [argument of Kafka's `storage format` …]
 *
 * FOLDER holds `server.properties`, whose `log.dirs` is FOLDER/data. A parent that was killed can no longer tidy up: with
 * `remove` the folder goes too.
 */
final class Broker {
  public static void main(String[] arguments) {
    Path folder = Path.of(arguments[0]);
    boolean remove = arguments[1].equals("remove");
    Thread watch = new Thread(() -> endWithParent(folder, remove));
    watch.setDaemon(true);
    watch.start();
    String properties = folder.resolve("server.properties").toString();
    if (!Files.exists(folder.resolve("data/meta.properties"))) {
      List<String> format = Stream.concat(
          Stream.of("format", "--config", properties, "--cluster-id", arguments[2]),
          Stream.of(arguments).skip(3)).toList();
      int status = kafka.tools.StorageTool.execute(format.toArray(String[]::new), System.err);
      if (status != 0) System.exit(status);
    }
    kafka.Kafka.main(new String[] {properties});
  }

  private static void endWithParent(Path folder, boolean remove) {
    try {
      while (System.in.read() >= 0) continue;
    } catch (IOException broken) {
      // As good as its end.
    }
    if (remove) removeTree(folder);
    Runtime.getRuntime().halt(1);
  }

  /** As far as possible: the broker still writes. */
  private static void removeTree(Path folder) {
    try (Stream<Path> paths = Files.walk(folder)) {
      paths.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
    } catch (IOException | java.io.UncheckedIOException vanished) {
      // Whatever is left is in the system's folder for temporary files.
    }
  }
}
