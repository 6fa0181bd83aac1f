/**
 * The same as word-count-kafka.ts by operators that leave the lines as they are: no string is made of a line or a word before its count is written.
 *
 *     npm run kafka
 *     npx epochflow run examples/word-count-bytes.ts --set brokers=localhost:9092 --set input=lines --set output=counts
 */
import { count, json, kafka, parameter, pipeline, seconds, text, tumbling } from "epochflow";

export default pipeline("word-count-bytes")
  .from(kafka.source({ topic: parameter("input"), value: text(), outOfOrder: seconds(5) }))
  .words()
  .keyBy()
  .window(tumbling(seconds(10)))
  .aggregate({ count: count() })
  .select({ word: "/key", windowStart: "/windowStart", count: "/count" })
  .to(kafka.sink({ topic: parameter("output"), key: "/word", value: json() }), { id: "counts" });
