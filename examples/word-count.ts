/**
 * How often each word comes in every ten seconds of event time. A line is `<epoch milliseconds> TAB <words>`: a chat, a
 * transcript, anything that was written at a time. (Windows need one; were it the time of processing, every run would give another result.)
 * A line without a time counts at time 0, so a plain text gives one count a word.
 *
 *     npx epochflow run examples/word-count.ts
 *     npx epochflow read out/word-count
 */
import { count, files, parameter, pipeline, seconds, text, tumbling } from "epochflow";

const timed = /^(\d+)\t/;

export default pipeline("word-count")
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
  .window(tumbling(seconds(10)))
  .aggregate({ count: count() })
  .map(({ key, windowStart, count }) => ({ word: key, windowStart, count }))
  .to(files.sink({ path: parameter("output", "out/word-count") }), { id: "counts" });
