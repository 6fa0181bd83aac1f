import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { cliIn, type Finished } from "../support/cli.ts";
import { folderOf } from "../support/folder.ts";

/** Parts of the pipeline's text that a test sets. */
export interface PipelineText {
  readonly name?: string;
  /** Second argument of `pipeline()`. */
  readonly options?: string;
  /** Further options of the source, each with a comma. */
  readonly source?: string;
  /** Body of the function that is applied to each word. */
  readonly map?: string;
  readonly window?: string;
  readonly output?: string;
}

const pipelineText = ({
  name = "words",
  options = "{}",
  source = "",
  map = "return word;",
  window = "seconds(10)",
  output = "out",
}: PipelineText) => `
import { count, deadLetter, files, pipeline, seconds, tumbling } from "epochflow";

function decode(line: string) {
  const [at, words] = line.split("\\t");
  if (words === undefined) throw new Error("there is no tab in it");
  return { at: Number(at), words: words.split(" ") };
}

export default pipeline("${name}", ${options})
  .from(files.source({ path: "in.txt", value: decode, timestamp: ({ at }) => at, ${source} }))
  .flatMap(({ words }) => words)
  .map((word) => { ${map} }, { id: "check" })
  .keyBy((word) => word)
  .window(tumbling(${window}))
  .aggregate({ count: count() })
  .to(files.sink({ path: "${output}" }), { id: "counts" });
`;

/** A line of the input: its event time in milliseconds, and words. */
export const lineOf = (at: number, ...words: string[]): string => `${at}\t${words.join(" ")}`;

/** Sixty lines, a second apart, and longer than the part of a file by which it is known again. */
export const goodLines: readonly string[] = Array.from({ length: 60 }, (_, second) =>
  lineOf(second * 1000, `word-${second % 7}`, `word-${second % 3}`, "a-word-that-every-line-has"),
);

/** What counting the words of these lines gives, in windows of ten seconds. */
export function countsOf(lines: readonly string[], windowMs = 10_000): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const [at, words] = line.split("\t");
    for (const word of words!.split(" ")) {
      const key = `${Math.floor(Number(at) / windowMs) * windowMs} ${word}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return [...counts].map(([key, count]) => `${key} ${count}`).sort();
}

/** A folder as a user has it: `words.ts` counts the words of `in.txt` in windows of ten seconds, into `out`. */
export class Project {
  readonly folder: string;

  constructor(test: TestContext, lines: readonly string[] = goodLines, text: PipelineText = {}) {
    this.folder = folderOf(test);
    this.input(lines);
    this.pipeline(text);
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  pipeline(text: PipelineText): void {
    writeFileSync(this.path("words.ts"), pipelineText(text));
  }

  /** Writes the input, in place where it is there already. */
  input(lines: readonly string[]): void {
    writeFileSync(this.path("in.txt"), `${lines.join("\n")}\n`);
  }

  async epochflow(...args: string[]): Promise<Finished> {
    return await cliIn(this.folder, ...args);
  }

  /** In epochs of five lines, so that those before the trouble are committed. */
  async run(...args: string[]): Promise<Finished> {
    return await this.epochflow("run", "words.ts", "--epoch-records", "5", "--parallelism", "2", ...args);
  }

  /** The committed rows of an output folder. */
  async rows(folder = "out"): Promise<Record<string, unknown>[]> {
    const { code, stdout, stderr } = await this.epochflow("read", folder);
    assert.equal(code, 0, stderr);
    return stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  async counts(folder = "out"): Promise<string[]> {
    const rows = await this.rows(folder);
    return rows.map(({ key, windowStart, count }) => `${windowStart} ${key} ${count}`).sort();
  }

  /** Runs to the end, and compares the output with an independent count: nothing is lost, and nothing came twice. */
  async finishes(lines: readonly string[], ...args: string[]): Promise<Finished> {
    const finished = await this.run(...args);
    assert.equal(finished.code, 0, finished.stderr);
    assert.deepEqual(await this.counts(), countsOf(lines));
    return finished;
  }

  read(name: string): Buffer {
    return readFileSync(this.path(name));
  }
}

/** The run ended with this exit code, and said all of this on standard error. */
export function assertEnded({ code, stderr }: Finished, expected: number, ...said: (string | RegExp)[]): void {
  assert.equal(code, expected, stderr);
  for (const what of said) {
    if (typeof what === "string") assert.ok(stderr.includes(what), `${JSON.stringify(what)} is not in:\n${stderr}`);
    else assert.match(stderr, what);
  }
}
