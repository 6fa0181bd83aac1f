import { count, environment, files, milliseconds, parameter, pipeline, seconds, sum, text, tumbling } from "epochflow";
import { postgres } from "../../examples/postgres/postgres.ts";

const connection = {
  host: parameter("host"),
  database: parameter("database"),
  user: parameter("user"),
  password: environment("PGPASSWORD"),
};

/** Every line into one table, where a second one of it would be seen; and sums of them into another, where rows are replaced. */
export default pipeline("numbers")
  .from(
    files.source({
      path: parameter("input"),
      value: text(),
      timestamp: (line) => 10 * Number(line),
      outOfOrder: milliseconds(100),
    }),
  )
  .map((line, { partition }) => ({ number: Number(line), file: partition }))
  .to(postgres.sink({ connection, table: "numbers", columns: ["number", "file"] }), { id: "numbers" })
  .keyBy(({ number }) => number % 10)
  .window(tumbling(seconds(1)), { allowedLateness: seconds(5) })
  .aggregate({ count: count(), sum: sum(({ number }) => number) })
  .map(({ key, windowStart, count, sum }) => ({ digit: key, window_start: windowStart, count, sum }))
  .to(
    postgres.sink({
      connection,
      table: "sums",
      columns: ["digit", "window_start", "count", "sum"],
      upsert: ["digit", "window_start"],
    }),
    { id: "sums" },
  );
