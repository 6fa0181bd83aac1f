/** `npm start` first makes an hour of orders, the same each time; one of a thousand is broken. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";

const file = "input/orders.jsonl";
const countries = ["DE", "FR", "GB", "IT", "US"];
const begin = Date.UTC(2026, 0, 5, 12);

if (!existsSync(file)) {
  const lines = Array.from({ length: 20_000 }, (_, index) => {
    if (index % 1000 === 999) return `{"id":"${index}","country":"DE"`;
    const placedAt = new Date(begin + index * 180).toISOString();
    const country = countries[(index * 7) % countries.length];
    return JSON.stringify({ id: String(index), placedAt, country, cents: 100 + ((index * 7919) % 10_000) });
  });
  mkdirSync("input", { recursive: true });
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
  console.log(`${file}: ${lines.length} lines`);
}
