import { setTimeout as sleep } from "node:timers/promises";
import type { Oracle } from "../../support/kafka/oracle.ts";

/** What could be read when: the end offsets of a topic's partitions, and since when in epoch milliseconds. */
export type Visible = readonly { readonly at: number; readonly offsets: readonly number[] }[];

const watchMs = 20;

/** Notes the ends that read_committed readers see until it is told to stop. */
export function watchEnds(oracle: Oracle, topic: string): () => Promise<Visible> {
  const visible: { at: number; offsets: readonly number[] }[] = [];
  let stopped = false;
  const watching = (async () => {
    for (; !stopped; await sleep(watchMs)) {
      const offsets = await oracle.offsets(topic, "last-stable");
      const at = Date.now();
      if (String(offsets) !== String(visible.at(-1)?.offsets)) visible.push({ at, offsets });
    }
  })();
  return async () => {
    stopped = true;
    await watching;
    return visible;
  };
}

/** When the first record was visible; NaN if none was. @param first offsets of the partitions' first records; -1: none */
export function firstVisible(visible: Visible, first: readonly number[]): number {
  const found = visible.find(({ offsets }) =>
    first.some((offset, partition) => offset >= 0 && offsets[partition]! > offset),
  );
  return found?.at ?? Number.NaN;
}

/** When all records were visible; NaN if they were not. @param last offsets of the partitions' last records; -1: none */
export function allVisible(visible: Visible, last: readonly number[]): number {
  return (
    visible.find(({ offsets }) => last.every((offset, partition) => offsets[partition]! > offset))?.at ?? Number.NaN
  );
}
