import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, type Finished, type Started, startCli } from "./cli.ts";
import { temporaryFolder } from "./folder.ts";
import { readHead } from "./inspect.ts";
import { until } from "./until.ts";

export const words = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `w${(from + index) % 7}`);

/** A pipeline that counts words, a minute each, in a folder of its own. A record takes `SLOW_MS`. */
export class Place implements Disposable {
  readonly #folder = temporaryFolder();
  readonly state = join(this.#folder.path, "state");
  readonly output = join(this.#folder.path, "out");
  readonly #input = join(this.#folder.path, "input");
  readonly module = join(this.#folder.path, "words.ts");
  #lines: string[] = [];

  constructor(lines: readonly string[]) {
    mkdirSync(this.#input);
    this.append(lines);
    this.program("word");
  }

  /** @param key what to make of a word: other code, same topology */
  program(key: string): void {
    const source = `
      import { count, files, minutes, pipeline, tumbling } from "epochflow";
      const slowMs = Number(process.env.SLOW_MS ?? 0);
      const never = new Int32Array(new SharedArrayBuffer(4));
      export default pipeline("words")
        .from(files.source({
          path: ${JSON.stringify(this.#input)},
          value: (line) => line.split(" "),
          timestamp: ([time]) => Number(time) * 1000,
        }))
        .map(([time, word]) => {
          if (slowMs > 0) Atomics.wait(never, 0, 0, slowMs);
          return word ?? "";
        })
        .keyBy((word) => ${key})
        .window(tumbling(minutes(1)))
        .aggregate({ count: count() })
        .to(files.sink({ path: ${JSON.stringify(this.output)} }), { id: "counts" });`;
    writeFileSync(this.module, source);
  }

  append(lines: readonly string[]): void {
    const timed = lines.map((word, index) => `${this.#lines.length + index} ${word}`);
    appendFileSync(join(this.#input, "words.txt"), timed.map((line) => `${line}\n`).join(""));
    this.#lines.push(...lines);
  }

  start(options: readonly string[], slowMs = 0): Started {
    return startCli(["run", this.module, "--state", this.state, ...options], { env: { SLOW_MS: String(slowMs) } });
  }

  run(...options: string[]): Promise<Finished> {
    return this.start(options).finished;
  }

  command(name: string, ...options: string[]): Promise<Finished> {
    return cli(name, "--state", this.state, ...options);
  }

  /** What `read` prints, sorted. */
  async rows(): Promise<string[]> {
    const { code, stdout, stderr } = await cli("read", this.output);
    assert.equal(code, 0, stderr);
    return stdout.trimEnd().split("\n").sort();
  }

  /** What it must print, when all windows are closed. */
  expected(lines: readonly string[] = this.#lines): string[] {
    const counts = new Map<string, number>();
    for (const [second, word] of lines.entries()) {
      const windowStart = second - (second % 60);
      const name = JSON.stringify({ key: word, windowStart: windowStart * 1000, windowEnd: (windowStart + 60) * 1000 });
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts].map(([name, count]) => name.replace("}", `,"count":${count}}`)).sort();
  }

  /** Resolves when a running process has decided so many epochs. */
  async decided(epochs: number): Promise<void> {
    await until(`${epochs} epochs are decided`, async () => ((await readHead(this.state))?.decided ?? 0) >= epochs);
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

export function assertEnded({ code, stderr }: Finished, expected: number, ...messages: RegExp[]): void {
  assert.equal(code, expected, stderr);
  for (const message of messages) assert.match(stderr, message);
}
