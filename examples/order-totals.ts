/**
 * What a shop has sold so far, by country: a running total, and the same by business days, which begin at midnight in New York (UTC-5).
 *
 * A running aggregate has no window: it gives a new row for a country whenever an epoch has brought orders of it. The last row of a country counts; in a compacted topic of
 * Kafka (`kafka.sink`, keyed by the country) it is the only one that stays. A country without an order for 90 days begins anew.
 *
 *     npx epochflow run examples/order-totals.ts --epoch-records 50
 *     npx epochflow read out/order-totals/so-far
 *     npx epochflow read out/order-totals/days
 */
import { count, days, files, hours, json, max, minutes, parameter, pipeline, sum, tumbling } from "epochflow";
import { z } from "zod";

const order = z.object({ placedAt: z.iso.datetime(), country: z.string(), totalCents: z.int().nonnegative() });

const byCountry = pipeline("order-totals", { onError: "skip" })
  .from(
    files.source({
      path: parameter("input", "examples/data/orders.jsonl"),
      value: json(order),
      timestamp: ({ placedAt }) => Date.parse(placedAt),
      outOfOrder: minutes(1),
    }),
  )
  .keyBy(({ country }) => country);

byCountry
  .aggregate({ orders: count(), revenueCents: sum((order) => order.totalCents) }, { expireAfter: days(90) })
  .map(({ key, ...totals }, { timestamp }) => ({ country: key, upTo: new Date(timestamp).toISOString(), ...totals }))
  .to(files.sink({ path: parameter("totals", "out/order-totals/so-far") }), { id: "so-far" });

export default byCountry
  .window(tumbling(days(1), { offset: hours(5) }), { allowedLateness: days(1) })
  .aggregate({ orders: count(), largestCents: max((order) => order.totalCents) })
  .map(({ key, windowStart, windowEnd, ...day }) => ({
    country: key,
    from: new Date(windowStart).toISOString(),
    ...day,
  }))
  .to(files.sink({ path: parameter("days", "out/order-totals/days") }), { id: "days" });

/** Records for `epochflow verify examples/order-totals.ts`, which reads no files. */
export const sample = Array.from({ length: 60 }, (_, index) => ({
  placedAt: new Date(Date.UTC(2026, 0, 5, 0, 17 * index)).toISOString(),
  country: ["DE", "FR", "US"][index % 3],
  totalCents: 100 + 7 * index,
}));
