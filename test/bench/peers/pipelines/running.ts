/** How often each key has come so far: state that grows with the keys, and output in every epoch. */
import { count, json, kafka, parameter, pipeline, text } from "epochflow";

export default pipeline("running")
  .from(kafka.source({ topic: parameter("input"), value: text() }))
  .keyBy((key) => key)
  .aggregate({ count: count() })
  .map(({ key, count }) => ({ key, count }))
  .to(kafka.sink({ topic: parameter("output"), key: (row) => row.key, value: json() }), { id: "counts" });
