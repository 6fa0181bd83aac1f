import { count, days, deadLetter, files, minutes, parameter, pipeline, seconds, sum, tumbling } from "epochflow";
import { parseOrder } from "./order.ts";

/** Orders and revenue by country and minute, from files of orders as JSON lines. What is no order goes to the dead letters, and holds nothing up. */
export default pipeline("orders", {
  onError: deadLetter(files.sink({ path: parameter("deadLetters", "out/dead-letters") })),
})
  .from(
    files.source({
      path: parameter("input", "input"),
      value: parseOrder,
      timestamp: (order) => Date.parse(order.placedAt),
      outOfOrder: seconds(30),
    }),
  )
  .keyBy((order) => order.country)
  // Whoever mends what is in the dead letters has a day to replay it: its minutes get another row, with all of it.
  .window(tumbling(minutes(1)), { allowedLateness: days(1), late: files.sink({ path: parameter("late", "out/late") }) })
  .aggregate({ orders: count(), cents: sum((order) => order.cents) })
  .map(({ key, windowStart, orders, cents }) => ({
    country: key,
    minute: new Date(windowStart).toISOString(),
    orders,
    cents,
  }))
  .to(files.sink({ path: parameter("output", "out/revenue") }), { id: "revenue" });

/** Records for `epochflow verify`, which reads nothing. */
export const sample = Array.from({ length: 60 }, (_, index) => ({
  id: String(index),
  placedAt: new Date(Date.UTC(2026, 0, 5, 12) + index * 10_000).toISOString(),
  country: index % 2 === 0 ? "DE" : "FR",
  cents: 100 + index,
}));
