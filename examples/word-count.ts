/**
 * How often each word comes in every ten seconds of event time. A line is `<epoch milliseconds> TAB <words>`: a chat, a
 * transcript, anything that was written at a time. (Windows need one; were it the time of processing, every run would give another result.)
 *
 *     npx epochflow run examples/word-count.ts
 *     npx epochflow read out/word-count
 */
import { count, files, parameter, pipeline, seconds, text, tumbling } from "epochflow";

export default pipeline("word-count")
  .from(
    files.source({
      path: parameter("input", "examples/data/lines.tsv"),
      value: text(),
      timestamp: (line) => Number.parseInt(line, 10),
      outOfOrder: seconds(5),
    }),
  )
  .flatMap((line) =>
    line
      .slice(line.indexOf("\t") + 1)
      .split(" ")
      .filter(Boolean),
  )
  .keyBy((word) => word)
  .window(tumbling(seconds(10)))
  .aggregate({ count: count() })
  .map(({ key, windowStart, count }) => ({ word: key, windowStart, count }))
  .to(files.sink({ path: parameter("output", "out/word-count") }), { id: "counts" });
