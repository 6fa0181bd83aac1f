/** From topic to topic, as it is. */
import { kafka, parameter, pipeline, text } from "epochflow";

export default pipeline("pass")
  .from(kafka.source({ topic: parameter("input"), value: text() }))
  .to(kafka.sink({ topic: parameter("output"), value: text() }), { id: "passed" });
