import { SourceStage } from "../../../shared/operators/source-stage.ts";
import type { StageState } from "../../../shared/state/stage-state.ts";
import { type CountRow, checkRows } from "../count-words.ts";
import type { Part } from "./part.ts";
import {
  batchesOf,
  emptyState,
  environmentOf,
  fold,
  linesOf,
  mergeInto,
  processInto,
  rowsOf,
  topologyOf,
} from "./word-count.ts";

/** Sub-ranges that an epoch's records come in: the state takes the first one's tables over, and merges the others into them. */
const subRanges = 4;

/** What the stage after a shuffle does with the counts of an epoch. */
const merge: Part = {
  name: "state-merge",
  about: `counts of ${subRanges} partitions' records, merged into one state`,
  unit: "record",
  async prepare({ records }) {
    const input = linesOf(records);
    const batches = batchesOf(input);
    const topology = topologyOf();
    return {
      units: records,
      async ready() {
        const stage = new SourceStage(environmentOf(topology));
        const shares = Array.from({ length: subRanges }, (_, share) =>
          batches.filter((_, index) => index % subRanges === share),
        );
        const partials = shares.map((share) => fold(stage, share));
        const state = await emptyState(topology);
        return () => {
          for (const one of partials) mergeInto(topology, state, one);
          return state;
        };
      },
      check: (state: StageState) => checkRows(rowsOf<CountRow>(topology, state), input.expected),
    };
  },
};

const fire: Part = {
  name: "state-fire",
  about: "windows that close, as rows in the order of their keys, and map()",
  unit: "row",
  async prepare({ records }) {
    const input = linesOf(records);
    const batches = batchesOf(input);
    const topology = topologyOf();
    return {
      units: input.expected.size,
      async ready() {
        const state = await emptyState(topology);
        processInto(topology, state, batches);
        return () => rowsOf<CountRow>(topology, state);
      },
      check: (rows: CountRow[]) => checkRows(rows, input.expected),
    };
  },
};

export const stateParts: readonly Part[] = [merge, fire];
