/**
 * A generator of a shop's orders as JSON lines, with what real ones have too: some late, some broken. The same options give the
 * same bytes; the defaults give `examples/data/orders.jsonl`.
 *
 *     node examples/generate-orders.ts --lines 100000 --out out/orders.jsonl
 */
import { pathToFileURL } from "node:url";
import { generatorCommand } from "./support/generator-command.ts";
import { type SeededRandom, seededRandom } from "./support/seeded-random.ts";

export const defaults = { lines: 240, seed: 1 };

const START = Date.UTC(2026, 0, 5, 9);
const MEAN_GAP_MS = 60_000;
const MINUTE_MS = 60_000;
const countries = ["DE", "FR", "NL", "AT", "GB", "US"];
const weights = [30, 22, 14, 8, 16, 10];

/** The orders, without their newlines, in the order in which they arrive. */
export function* generateLines({ lines, seed }: typeof defaults): Generator<string> {
  const random = seededRandom(seed);
  let now = START;
  for (let number = 1; number <= lines; number++) {
    now += Math.round(-Math.log(1 - random.next()) * MEAN_GAP_MS);
    const line = JSON.stringify(drawOrder(random, number, now - delay(random)));
    yield random.chance(0.02) ? line.slice(0, -12) : line;
  }
}

/** How late an order arrives: seconds, now and then some minutes, seldom hours (a till that was offline). */
function delay(random: SeededRandom): number {
  const kind = random.next();
  if (kind < 0.015) return random.between(2 * 60, 4 * 60) * MINUTE_MS;
  if (kind < 0.05) return random.between(2, 8) * MINUTE_MS;
  return random.between(0, 20_000);
}

function drawOrder(random: SeededRandom, number: number, placedAt: number): object {
  const country = random.pick(countries, weights);
  const currency = country === "GB" ? "GBP" : country === "US" ? "USD" : "EUR";
  const totalCents = Math.round(1500 * Math.exp(1.6 * random.next() + 0.9 * random.next()));
  return {
    id: `o-${String(number).padStart(6, "0")}`,
    placedAt: new Date(placedAt).toISOString(),
    country,
    currency,
    totalCents: random.chance(0.02) ? (totalCents / 100).toFixed(2) : totalCents, // an old client sends text
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await generatorCommand({
    file: "examples/generate-orders.ts",
    about: "Writes a shop's orders as JSON lines. The same options give the same bytes.",
    options: {
      lines: { help: "how many orders", value: defaults.lines },
      seed: { help: "another seed, other orders", value: defaults.seed },
    },
    lines: generateLines,
  });
}
