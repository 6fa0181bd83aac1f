/** Passes records on, as they are: what has come out was processed. */
import { json, kafka, parameter, pipeline, text } from "epochflow";

export default pipeline("pass-on")
  .from(kafka.source({ topic: parameter("input"), value: text() }))
  .map((line) => ({ line }))
  .to(kafka.sink({ topic: parameter("output"), value: json() }), { id: "out" });
