/**
 * How often each word comes in every ten seconds, in a table of PostgreSQL. A window that gets late lines within a minute is written again: its row is replaced.
 *
 *     CREATE TABLE word_counts (word text, window_start timestamptz, count bigint NOT NULL, PRIMARY KEY (word, window_start));
 *
 *     PGPASSWORD=… npx epochflow run examples/postgres/word-counts.ts --set host=localhost --set database=shop --set user=alice
 */
import { count, environment, files, minutes, parameter, pipeline, seconds, text, tumbling } from "epochflow";
import { postgres } from "./postgres.ts";

const timed = /^(\d+)\t/;

export default pipeline("word-counts-postgres")
  .from(
    files.source({
      path: parameter("input", "examples/data/lines.tsv"),
      value: text(),
      timestamp: (line) => Number(timed.exec(line)?.[1] ?? 0),
      outOfOrder: seconds(5),
    }),
  )
  .flatMap((line) => line.replace(timed, "").split(/\s+/).filter(Boolean))
  .keyBy((word) => word)
  .window(tumbling(seconds(10)), { allowedLateness: minutes(1) })
  .aggregate({ count: count() })
  .map(({ key, windowStart, count }) => ({ word: key, window_start: new Date(windowStart), count }))
  .to(
    postgres.sink({
      connection: {
        host: parameter("host", "localhost"),
        database: parameter("database"),
        user: parameter("user"),
        password: environment("PGPASSWORD"),
      },
      table: parameter("table", "word_counts"),
      columns: ["word", "window_start", "count"],
      upsert: ["word", "window_start"],
    }),
    { id: "counts" },
  );
