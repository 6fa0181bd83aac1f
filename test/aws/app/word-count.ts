/** The word count of the examples, into a topic and into a bucket at once. */
import { count, files, json, kafka, parameter, pipeline, seconds, text, tumbling } from "epochflow";

/** @param more what each row has besides */
export const wordCount = (more: object) =>
  pipeline("word-count")
    .from(kafka.source({ topic: parameter("input"), value: text(), outOfOrder: seconds(5) }))
    .flatMap((line) => line.split(" ").filter(Boolean))
    .keyBy((word) => word)
    .window(tumbling(seconds(10)))
    .aggregate({ count: count() })
    .map(({ key, windowStart, count }) => ({ word: key, windowStart, count, ...more }))
    .to(kafka.sink({ topic: parameter("output"), key: (row) => row.word, value: json() }), { id: "topic" })
    .to(files.sink({ path: parameter("folder") }), { id: "files" });

export default wordCount({});
