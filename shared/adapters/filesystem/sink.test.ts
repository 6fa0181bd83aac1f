import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sinkConformance } from "../../testing/sink-conformance.ts";
import { readRows } from "./reader.ts";
import { createFilesSink } from "./sink.ts";

sinkConformance("files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "epochflow-sink-"));
  const path = join(folder, "a", "out");
  return {
    open: () => createFilesSink({ path }),
    read: async () => (await Array.fromAsync(readRows(path))).map((row) => JSON.parse(row)),
    row: (n: number) => ({ n, text: "line\n\u2028ü" }),
    badRow: { n: 1n as unknown as number, text: "" },
    exclusive: true,
    close: async () => await rm(folder, { recursive: true }),
  };
});
