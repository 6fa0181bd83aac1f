import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { aBroker } from "../support/needing.ts";
import { checkFolder, checkRows, countWords } from "./count-words.ts";
import { cachedLines } from "./generate-lines.ts";
import { linesOf } from "./parts/word-count.ts";
import { Topics } from "./topics.ts";

/** A whole pipeline, to be run and checked. */
export interface Job {
  readonly name: string;
  readonly about: string;
  /** The pipeline's. */
  readonly module: string;
  /** Why this machine cannot run it. */
  lacks?(): Promise<string | undefined>;
  open(): Promise<OpenJob>;
}

export interface OpenJob extends AsyncDisposable {
  load(lines: number): Promise<Loaded>;
}

/** A job with its input. */
export interface Loaded {
  /** Of the pipeline, for a run with an output of its own. */
  parameters(run: string, folder: string): Promise<Record<string, string>>;
  /** @throws Error if a run's results are not those of an independent count */
  check(run: string, folder: string): Promise<void>;
}

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));

const files: Job = {
  name: "files",
  about: "from a file to files; functions on strings (examples/word-count.ts)",
  module: example("word-count.ts"),
  open: async () => ({
    async load(lines) {
      const input = await cachedLines(lines);
      const expected = await countWords(input);
      const output = (folder: string) => join(folder, "output");
      return {
        parameters: async (_, folder) => ({ input, output: output(folder) }),
        check: (_, folder) => checkFolder(output(folder), expected),
      };
    },
    [Symbol.asyncDispose]: async () => {},
  }),
};

/** Partitions of both topics, as in test/bench/peers/JOB.md. */
const partitions = 4;

function kafka(name: string, about: string, module: string): Job {
  return {
    name,
    about: `from a topic to a topic; ${about} (examples/${module})`,
    module: example(module),
    lacks: aBroker,
    async open() {
      const topics = await Topics.start();
      return {
        async load(lines) {
          const input = linesOf(lines);
          const from = `lines-${lines}`;
          await topics.load(from, partitions, input);
          return {
            async parameters(run) {
              await topics.create(run, partitions);
              return { brokers: topics.bootstrap, input: from, output: run };
            },
            check: async (run) => checkRows(await topics.read(run), input.expected),
          };
        },
        [Symbol.asyncDispose]: () => topics[Symbol.asyncDispose](),
      };
    },
  };
}

export const jobs: readonly Job[] = [
  files,
  kafka("kafka", "functions on strings", "word-count-kafka.ts"),
  kafka("kafka-bytes", "operators that make no strings", "word-count-bytes.ts"),
];
