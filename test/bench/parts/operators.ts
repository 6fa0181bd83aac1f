import wordCountBytes from "../../../examples/word-count-bytes.ts";
import type { Partials } from "../../../shared/operators/partials.ts";
import { SourceStage } from "../../../shared/operators/source-stage.ts";
import type { Definition } from "../../../shared/pipeline/graph.ts";
import { type CountRow, checkRows } from "../count-words.ts";
import type { Part } from "./part.ts";
import { batchesOf, emptyState, environmentOf, fold, linesOf, mergeInto, rowsOf, topologyOf } from "./word-count.ts";

/** From columns of a source to counts of words: what a source's task does between reading and the shuffle. */
function operators(name: string, about: string, definition?: Definition): Part {
  return {
    name,
    about,
    unit: "record",
    async prepare({ records }) {
      const input = linesOf(records);
      const batches = batchesOf(input);
      const topology = topologyOf(definition);
      return {
        units: records,
        async ready() {
          const stage = new SourceStage(environmentOf(topology));
          return () => fold(stage, batches);
        },
        async check(partials: Partials) {
          const state = await emptyState(topology);
          mergeInto(topology, state, partials);
          await checkRows(rowsOf<CountRow>(topology, state), input.expected);
        },
      };
    },
  };
}

export const operatorParts: readonly Part[] = [
  operators("operators-strings", "text(), flatMap with split, keyBy with a function, count of each window"),
  operators("operators-bytes", ".words(), .keyBy(), count of each window: no string is made", wordCountBytes),
];
