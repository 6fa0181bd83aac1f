/**
 * A log is written, renamed, copied, truncated and compressed while the process that follows it is killed again and again. Each line is in the output once.
 * `EPOCHFLOW_TEST_SEED` gives the same moments again, as far as time allows; `EPOCHFLOW_TEST_TIMES=10` makes ten times as many.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { SeededRandom } from "../shared/adapters/memory/random.ts";
import { cli, startCli } from "./support/cli.ts";
import { temporaryFolder } from "./support/folder.ts";
import { seededRandom } from "./support/seed.ts";

const kills = 8 * Number(process.env.EPOCHFLOW_TEST_TIMES ?? 1);
const gzip = promisify(execFile);

/** Writes numbered lines, and rotates as logrotate does: now so, now so. */
class Writer {
  readonly lines: string[] = [];
  readonly rotations = { rename: 0, copy: 0, gzip: 0 };
  readonly #folder: string;
  readonly #random: SeededRandom;
  #stopped = false;

  constructor(folder: string, random: SeededRandom) {
    this.#folder = folder;
    this.#random = random;
    mkdirSync(folder);
  }

  async write(): Promise<void> {
    while (!this.#stopped) {
      const count = 1 + this.#random.below(20);
      const some = Array.from({ length: count }, (_, n) => `line ${this.lines.length + n} ${"x".repeat(n)}`);
      appendFileSync(this.#path("app.log"), some.map((line) => `${line}\n`).join(""));
      this.lines.push(...some);
      if (this.#random.below(25) === 0) await this.#rotate();
      await sleep(this.#random.below(10));
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  async #rotate(): Promise<void> {
    this.#shift();
    if (this.#random.below(2) === 0) {
      renameSync(this.#path("app.log"), this.#path("app.log.1"));
      this.rotations.rename++;
    } else {
      copyFileSync(this.#path("app.log"), this.#path("app.log.1"));
      truncateSync(this.#path("app.log"));
      this.rotations.copy++;
    }
    const plain = readdirSync(this.#folder).filter((name) => /\d$/.test(name));
    if (this.#random.below(2) === 0) return;
    for (const name of plain) await gzip("gzip", [this.#path(name)]);
    this.rotations.gzip += plain.length;
  }

  #shift(): void {
    for (let number = readdirSync(this.#folder).length; number >= 1; number--)
      for (const ending of ["", ".gz"]) {
        const from = this.#path(`app.log.${number}${ending}`);
        if (existsSync(from)) renameSync(from, this.#path(`app.log.${number + 1}${ending}`));
      }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

test("a log is rotated while the process that follows it is killed", async (context) => {
  using folder = temporaryFolder();
  const random = seededRandom(context);
  const module = join(folder.path, "lines.ts");
  const project = { cwd: folder.path };
  writeFileSync(
    module,
    `import { files, pipeline, text } from "epochflow";
    export default pipeline("lines")
      .from(files.source({ path: "logs", include: "app.log*", value: text() }))
      .map((line) => ({ line }))
      .to(files.sink({ path: "out" }), { id: "lines" });`,
  );
  const writer = new Writer(join(folder.path, "logs"), random);
  const writing = writer.write();
  for (let kill = 0; kill < kills; kill++) {
    const { child, finished } = startCli(["run", module, "--follow", "--epoch-interval", "100ms"], project);
    await sleep(700 + random.below(1200));
    child.kill("SIGKILL");
    const { stderr } = await finished;
    // A file whose name changes between a look and its opening is an attempt that fails, and is made again.
    assert.doesNotMatch(stderr, /error: (?!.* was moved while it was looked at)/);
  }
  writer.stop();
  await writing;
  const last = await startCli(["run", module], project).finished;
  assert.equal(last.code, 0, last.stderr);
  const { stdout } = await cli("read", join(folder.path, "out"));
  const rows = stdout
    .trimEnd()
    .split("\n")
    .map((row) => (JSON.parse(row) as { line: string }).line);
  context.diagnostic(`${rows.length} lines, ${kills} kills, rotations ${JSON.stringify(writer.rotations)}`);
  assert.deepEqual(rows.sort(), [...writer.lines].sort());
});
