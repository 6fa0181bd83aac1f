import { isPlainText } from "../pipeline/decoders/text.ts";
import type { Node, Topology } from "../pipeline/topology.ts";
import type { WriteTexts } from "./environment.ts";
import type { Failures } from "./failures.ts";
import type { Texts } from "./values.ts";

/** Whether a node is a sink whose rows are texts, and are written as they are. */
export function isTextSink({ sinks }: Topology, { kind, id }: Node): boolean {
  return kind === "sink" && isPlainText(sinks[id]?.options.value);
}

/** Gives a sink texts as the bytes that they are. */
export function compileTextSink({ id }: Node, write: WriteTexts, failures: Failures): (input: Texts) => void {
  let times = new Float64Array();
  return (input) => {
    const { origin, count: length, rows, bytes, starts, ends } = input;
    if (length === 0) return;
    if (times.length < length) times = new Float64Array(2 * length);
    for (let index = 0; index < length; index++) times[index] = origin.timestamp(rows[index]!);
    write(id, { length, bytes, starts, ends, times, rows: () => input.values.slice() }, (index, error) =>
      origin.fail(failures, id, rows[index]!, error),
    );
  };
}
