import { createHash } from "node:crypto";

const idBytes = 480;

/**
 * The id of a new file's partition: its path below the input folder, percent-encoded outside of `A-Z a-z 0-9 . _ - /`, shortened by a hash
 * beyond 480 bytes; with `~2`, `~3`, … under a name that is taken.
 */
export function partitionId(file: string, taken: ReadonlySet<string>): string {
  const name = shorten(encodePath(file));
  let id = name;
  for (let next = 2; taken.has(id); next += 1) id = `${name}~${next}`;
  return id;
}

function encodePath(file: string): string {
  return file.replace(/[^A-Za-z0-9._/-]+/g, (text) =>
    Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}

function shorten(name: string): string {
  if (name.length <= idBytes) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 32);
  return `${name.slice(0, idBytes - hash.length - 1)}~${hash}`;
}
