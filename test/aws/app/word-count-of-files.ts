/** The word count of the examples, from a bucket to a bucket; objects are whole, and so a partition that is read is idle soon. */
import { count, files, parameter, pipeline, seconds, text, tumbling } from "epochflow";

const timed = /^(\d+)\t/;

/** @param more what each row has besides */
export const wordCountOfFiles = (more: object) =>
  pipeline("word-count")
    .from(
      files.source({
        path: parameter("input"),
        value: text(),
        timestamp: (line) => Number(timed.exec(line)![1]),
        outOfOrder: seconds(5),
        idleAfter: seconds(1),
      }),
    )
    .flatMap((line) => line.replace(timed, "").split(" "))
    .keyBy((word) => word)
    .window(tumbling(seconds(10)))
    .aggregate({ count: count() })
    .map(({ key, windowStart, count }) => ({ word: key, windowStart, count, ...more }))
    .to(files.sink({ path: parameter("output") }), { id: "counts" });

export default wordCountOfFiles({});
