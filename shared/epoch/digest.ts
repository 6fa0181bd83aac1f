import { hash } from "node:crypto";
import type { Json } from "../json.ts";

/** JSON with sorted keys: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

/** SHA-256 of the canonical JSON, in hexadecimal. */
export function digest(value: Json | object): string {
  return hash("sha256", canonicalJson(value));
}
