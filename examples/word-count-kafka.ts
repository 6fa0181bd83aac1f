/**
 * How often each word comes in every ten seconds, from a topic of lines into a topic of counts, exactly once. The time of a line is its record's.
 *
 *     npm run kafka
 *     npx epochflow run examples/word-count-kafka.ts --set brokers=localhost:9092 --set input=lines --set output=counts
 *
 * It ends where the input ends now; with --follow it goes on.
 */
import { count, json, kafka, parameter, pipeline, seconds, text, tumbling } from "epochflow";

export default pipeline("word-count-kafka")
  .from(kafka.source({ topic: parameter("input"), value: text(), outOfOrder: seconds(5) }))
  .flatMap((line) => line.split(" ").filter(Boolean))
  .keyBy((word) => word)
  .window(tumbling(seconds(10)))
  .aggregate({ count: count() })
  .map(({ key, windowStart, count }) => ({ word: key, windowStart, count }))
  .to(kafka.sink({ topic: parameter("output"), key: (row) => row.word, value: json() }), { id: "counts" });
