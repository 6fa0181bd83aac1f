/** `npm start` first makes five minutes of orders, the same each time; of one in a thousand `cents` is a text. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";

const file = "input/orders.jsonl";
const countries = ["DE", "FR", "GB", "IT", "US"];
const begin = Date.UTC(2026, 0, 5, 12);

if (!existsSync(file)) {
  const lines = Array.from({ length: 20_000 }, (_, index) => {
    const placedAt = new Date(begin + index * 15).toISOString();
    const country = countries[(index * 7) % countries.length];
    const cents = 100 + ((index * 7919) % 10_000);
    return JSON.stringify({
      id: String(index),
      placedAt,
      country,
      cents: index % 1000 === 999 ? String(cents) : cents,
    });
  });
  mkdirSync("input", { recursive: true });
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
  console.log(`${file}: ${lines.length} lines`);
}
