import { count, files, kafka, parameter, pipeline, text, tumbling } from "epochflow";
import { windowMs } from "./workload.ts";

type Text = Parameters<typeof files.source>[0]["path"];

/** Where the records are: files of a folder, or a topic. */
export type Input = { readonly path: Text } | { readonly topic: string; readonly brokers: string };

/** Counts the records of a workload by key and window, into files. */
export function countKeys(input: Input, output: Text, outOfOrder: number) {
  const reading = { value: text(), timestamp: (line: string) => Number(line.slice(0, line.indexOf("\t"))), outOfOrder };
  const source =
    "path" in input
      ? files.source({ path: input.path, ...reading })
      : kafka.source({
          ...{ topic: input.topic, connection: kafka.connection({ brokers: input.brokers }) },
          ...reading,
        });
  return pipeline("scale")
    .from(source)
    .keyBy((line) => line.slice(line.indexOf("\t") + 1))
    .window(tumbling(windowMs))
    .aggregate({ count: count() })
    .map(({ key, windowStart, count }) => ({ key, windowStart, count }))
    .to(files.sink({ path: output }), { id: "counts" });
}

/** For worker threads, which load a module. Time goes on, and nothing is out of order. */
export default countKeys({ path: parameter("input") }, parameter("output"), 0);
