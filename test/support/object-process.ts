// Puts objects for ever, each a digest of the rest of itself, and says each that is there: node object-process.ts FOLDER NAME
import { createHash, randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { FileSystemObjectStore } from "../../shared/adapters/filesystem/object-store.ts";

const [, , folder = "", name = ""] = process.argv;
const store = new FileSystemObjectStore(folder);
for (let index = 0; ; index++) {
  const key = `objects/${index % 5}/${name}-${index}`;
  const body = randomBytes(50_000);
  await store.put(key, [createHash("sha256").update(body).digest(), body], { durable: index % 2 === 0 });
  writeSync(1, `${key} `);
}
