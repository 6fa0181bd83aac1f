import { sinkConformance } from "epochflow/testing";
import { temporaryFolder } from "../support/folder.ts";
import { readRows, TableSink } from "./table-sink.ts";

/** Has what a sink must have, and no more. */
class BareSink extends TableSink {
  override publish = undefined as never;
  override abandon = undefined as never;
}

sinkConformance("a bare one", async () => {
  const folder = temporaryFolder();
  const file = `${folder.path}/table.sqlite`;
  const sinks: BareSink[] = [];
  return {
    open() {
      const sink = new BareSink(file);
      sinks.push(sink);
      return sink;
    },
    read: async () => readRows<{ number: number }>(file),
    row: (number) => ({ number }),
    async close() {
      for (const sink of sinks) await sink.close();
      folder[Symbol.dispose]();
    },
  };
});
