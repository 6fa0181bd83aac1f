/** `word-count.ts` after a change of its code, which one sees in what it writes. Its state is the same. */
import { count, files, json, kafka, parameter, pipeline, seconds, text, tumbling } from "epochflow";

export default pipeline("word-count")
  .from(kafka.source({ topic: parameter("input"), value: text(), outOfOrder: seconds(5) }))
  .flatMap((line) => line.split(" ").filter(Boolean))
  .keyBy((word) => word)
  .window(tumbling(seconds(10)))
  .aggregate({ count: count() })
  .map(({ key, windowStart, count }) => ({ word: key, windowStart, count, changed: true }))
  .to(kafka.sink({ topic: parameter("output"), key: (row) => row.word, value: json() }), { id: "topic" })
  .to(files.sink({ path: parameter("folder") }), { id: "files" });
