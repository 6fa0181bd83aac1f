/** An order of the shop. */
export interface Order {
  readonly id: string;
  readonly placedAt: string;
  readonly country: string;
  readonly cents: number;
}

/** A record as an order; throws what is wrong with it, and it becomes a dead letter. A schema of zod, valibot or arktype would do: value: json(schema). */
export function parseOrder(text: string): Order {
  const { id, placedAt, country, cents } = JSON.parse(text) as Partial<Order>;
  if (typeof id !== "string") throw new Error("the order has no id");
  if (Number.isNaN(Date.parse(placedAt ?? ""))) throw new Error(`placedAt of ${id} is no time`);
  if (typeof country !== "string" || country.length !== 2) throw new Error(`country of ${id} is not two letters`);
  if (!Number.isSafeInteger(cents)) throw new Error(`cents of ${id} is no whole number`);
  return { id, placedAt: placedAt!, country, cents: cents! };
}
