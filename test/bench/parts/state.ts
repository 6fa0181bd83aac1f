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

/** What the stage after a shuffle does with the counts of an epoch. */
const merge: Part = {
  name: "state-merge",
  about: "counts of an epoch, merged into an empty state",
  unit: "record",
  async prepare({ records }) {
    const input = linesOf(records);
    const batches = batchesOf(input);
    const topology = topologyOf();
    return {
      units: records,
      async ready() {
        const partials = fold(new SourceStage(environmentOf(topology)), batches);
        const state = await emptyState(topology);
        return () => {
          mergeInto(topology, state, partials);
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
