import { count, deadLetter, json, kafka, minutes, parameter, pipeline, seconds, sum, text, tumbling } from "epochflow";
import { parseOrder } from "./order.ts";

/** Orders and revenue by country and minute, from topic to topic. What is no order goes to the dead letters, and holds nothing up. */
export default pipeline("orders", {
  onError: deadLetter(kafka.sink({ topic: parameter("deadLetters", "orders-dead"), value: json() })),
})
  .from(kafka.source({ topic: parameter("input", "orders"), value: text(), outOfOrder: seconds(30) }))
  .map(parseOrder)
  .keyBy((order) => order.country)
  .window(tumbling(minutes(1)))
  .aggregate({ orders: count(), cents: sum((order) => order.cents) })
  .map(({ key, windowStart, orders, cents }) => ({
    country: key,
    minute: new Date(windowStart).toISOString(),
    orders,
    cents,
  }))
  .to(kafka.sink({ topic: parameter("output", "revenue"), key: (row) => row.country, value: json() }), {
    id: "revenue",
  });

/** Records for `epochflow verify`, which reads nothing. */
export const sample = Array.from({ length: 60 }, (_, index) => ({
  id: String(index),
  placedAt: new Date(Date.UTC(2026, 0, 5, 12) + index * 10_000).toISOString(),
  country: index % 2 === 0 ? "DE" : "FR",
  cents: 100 + index,
}));
