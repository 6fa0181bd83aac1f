/**
 * A shop's revenue by country and currency over the last hour, every quarter of an hour, from orders as JSON lines. What it adds to the
 * other examples is what a team needs on the first day of production:
 *
 * - orders are validated by a schema (zod; any Standard Schema validator will do), and their type follows from it;
 * - what is no order goes to `dead-letters`, with its file and offset, and holds nothing up;
 * - what comes more than ten minutes late goes to `late`, with the windows that it missed; less than that mends the result, which is then
 *   written again: the last row of a window counts;
 * - keys are tuples, money is whole cents.
 *
 *     npx epochflow run examples/orders.ts --epoch-records 20
 *     npx epochflow read out/orders/revenue
 *     npx epochflow read out/orders/dead-letters
 *
 * Late is judged once an epoch: without `--epoch-records` this small sample, which `examples/generate-orders.ts` made, is one epoch.
 */
import {
  average,
  count,
  deadLetter,
  files,
  hours,
  json,
  max,
  minutes,
  parameter,
  pipeline,
  sliding,
  sum,
} from "epochflow";
import { z } from "zod";

const order = z.object({
  id: z.string(),
  placedAt: z.iso.datetime(),
  country: z.string().length(2),
  currency: z.enum(["EUR", "GBP", "USD"]),
  totalCents: z.int().nonnegative(),
});

export default pipeline("orders", {
  onError: deadLetter(files.sink({ path: parameter("deadLetters", "out/orders/dead-letters") })),
})
  .from(
    files.source({
      path: parameter("input", "examples/data/orders.jsonl"),
      value: json(order),
      timestamp: (order) => Date.parse(order.placedAt),
      outOfOrder: minutes(1),
    }),
  )
  .keyBy((order) => [order.country, order.currency])
  .window(sliding({ size: hours(1), every: minutes(15) }), {
    allowedLateness: minutes(10),
    late: files.sink({ path: parameter("late", "out/orders/late") }),
  })
  .aggregate({
    orders: count(),
    revenueCents: sum((order) => order.totalCents),
    averageCents: average((order) => order.totalCents),
    largestCents: max((order) => order.totalCents),
  })
  .map(({ key: [country, currency], windowStart, windowEnd, averageCents, ...figures }) => ({
    country,
    currency,
    from: new Date(windowStart).toISOString(),
    to: new Date(windowEnd).toISOString(),
    ...figures,
    averageCents: Math.round(averageCents),
  }))
  .to(files.sink({ path: parameter("output", "out/orders/revenue") }), { id: "revenue" });

/** Records for `epochflow verify examples/orders.ts`, which reads no files. */
export const sample = Array.from({ length: 60 }, (_, index) => ({
  id: `o-${index}`,
  placedAt: new Date(Date.UTC(2026, 0, 5) + index * 400_000).toISOString(),
  country: ["DE", "FR", "US"][index % 3],
  currency: ["EUR", "EUR", "USD"][index % 3],
  totalCents: 1000 + 7 * index,
}));
