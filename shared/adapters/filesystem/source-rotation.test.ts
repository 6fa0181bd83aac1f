/** A program writes a log, and rotations rename, copy, truncate and compress it, at any moment; a pipeline looks and reads in between. */
import assert from "node:assert/strict";
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import type { KnownPartition } from "../../ports/source.ts";
import { readValues, wholeRange } from "../../testing/source-scenario.ts";
import { createFilesSource } from "./source.ts";

const times = Number(process.env.EPOCHFLOW_TEST_TIMES ?? 1);
const header = "# a beginning that all files of this log have, of more than a thousand bytes\n".repeat(14);

/** The log's writer, and what rotates it. */
class Log {
  readonly folder = mkdtempSync(join(tmpdir(), "epochflow-rotation-"));
  readonly written: string[] = [];
  readonly #header: string;
  readonly #packAs: "gz" | "zst";
  #handle: number;
  #inLine = false;

  constructor({ header, packAs }: { header: string; packAs: "gz" | "zst" }) {
    this.#header = header;
    this.#packAs = packAs;
    this.#handle = this.#begin();
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Appends lines; the last one without its end, until more comes. */
  write(count: number, unfinished: boolean): void {
    for (let n = 0; n < count; n++) this.#line();
    if (!unfinished || this.#inLine) return;
    writeSync(this.#handle, "begun");
    this.#inLine = true;
  }

  /** As logrotate does with `create`: shift the old ones, rename, and have the writer begin a new file, after what it has to finish. */
  rename(late: number): void {
    this.#shift();
    renameSync(this.path("app.log"), this.path("app.log.1"));
    for (let n = 0; n < late; n++) this.#line();
    this.#finishLine();
    closeSync(this.#handle);
    this.#handle = this.#begin();
  }

  /** With `copytruncate`: nothing is written in between here, since what is would be lost to everybody. */
  copyTruncate(): void {
    this.#finishLine();
    this.#shift();
    copyFileSync(this.path("app.log"), this.path("app.log.1"));
    truncateSync(this.path("app.log"));
    if (this.#header !== "") this.#writeHeader();
  }

  /** gzip writes the compressed file, then removes the other. `step` tells where it is looked at. */
  *compress(): Generator<void> {
    const newest = readdirSync(this.folder)
      .filter((name) => /^app\.log\.\d+$/.test(name))
      .sort()[0];
    if (newest === undefined) return;
    const text = readFileSync(this.path(newest));
    const bytes = this.#packAs === "gz" ? gzipSync(text) : zstdCompressSync(text);
    const target = this.path(`${newest}.${this.#packAs}`);
    writeFileSync(target, bytes.subarray(0, Math.floor(bytes.length / 2)));
    yield;
    writeFileSync(target, bytes);
    yield;
    rmSync(this.path(newest));
  }

  dispose(): void {
    closeSync(this.#handle);
    rmSync(this.folder, { recursive: true });
  }

  #begin(): number {
    const handle = openSync(this.path("app.log"), "a");
    this.#handle = handle;
    if (this.#header !== "") this.#writeHeader();
    return handle;
  }

  #writeHeader(): void {
    writeSync(this.#handle, this.#header);
    for (const line of this.#header.trimEnd().split("\n")) this.written.push(line);
  }

  #line(): void {
    const text = `line ${this.written.length}`;
    writeSync(this.#handle, `${text}\n`);
    this.written.push(this.#inLine ? `begun${text}` : text);
    this.#inLine = false;
  }

  #finishLine(): void {
    if (this.#inLine) this.#line();
    fsyncSync(this.#handle);
  }

  #shift(): void {
    for (let number = 9; number >= 1; number--)
      for (const ending of ["", ".gz", ".zst"]) {
        const from = this.path(`app.log.${number}${ending}`);
        if (existsSync(from)) renameSync(from, this.path(`app.log.${number + 1}${ending}`));
      }
  }
}

/** Reads as a pipeline does: looks, takes so many records of each partition at most, remembers, and forgets what it may. */
class Reading {
  readonly rows: string[] = [];
  readonly #options: { path: string; include?: string };
  #known: KnownPartition[] = [];
  #source;

  constructor(options: { path: string; include?: string }) {
    this.#options = options;
    this.#source = this.#open();
  }

  /** A process that is started anew has only what the ledger holds. */
  async restart(): Promise<void> {
    await this.#source.close();
    this.#source = this.#open();
  }

  async look(records = Number.POSITIVE_INFINITY, between: () => void = () => {}, forgets = true): Promise<number> {
    const found = await this.#source.discover(this.#known);
    const positions = new Map(this.#known.map(({ id, position }) => [id, position]));
    const rows: string[] = [];
    const next: KnownPartition[] = [];
    const ranges = [];
    for (const one of found) {
      const from = positions.get(one.id) ?? one.start;
      const range = { ...wholeRange(one), from };
      const to = from < range.to && records > 0 ? (await this.#source.cut(range, { records })).to : from;
      if (to > from) ranges.push({ ...range, to });
      if (one.isOver && forgets) continue;
      next.push({ id: one.id, identity: JSON.parse(JSON.stringify(one.identity)), position: to });
    }
    between();
    for (const range of ranges) rows.push(...(await readValues(this.#source, range)));
    this.rows.push(...rows);
    this.#known = next;
    return rows.length;
  }

  async close(): Promise<void> {
    await this.#source.close();
  }

  #open() {
    return createFilesSource({ ...this.#options, bounded: false }, { open, readdir, stat, finishedPartitions: 0 });
  }
}

interface Step {
  readonly kind: string;
  readonly count?: number;
  readonly unfinished?: boolean;
  readonly records?: number;
  /** What the source says is over is kept no longer. */
  readonly forgets?: boolean;
  readonly late?: number;
  readonly looks?: number;
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("write"), count: fc.nat(5), unfinished: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("look"),
      records: fc.constantFrom(0, 1, 3, 100),
      forgets: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rename"), late: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rename while it is read"), late: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("copyTruncate") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compress"), looks: fc.nat(3) }) },
) as fc.Arbitrary<{
  kind: string;
  count?: number;
  unfinished?: boolean;
  records?: number;
  forgets?: boolean;
  late?: number;
  looks?: number;
}>;

/**
 * A file that was copied and truncated is looked at before it may be renamed, compressed and removed: a short copy that grew before is told from any other file by the inode of the one
 * that was truncated (assign.ts). Else it is a loss, which is loud.
 *
 * @param seen a file is looked at before its name changes: what has had no other name meanwhile cannot be found where only some names are read
 */
async function run(log: Log, reading: Reading, steps: readonly Step[], seen: boolean) {
  let isTruncated = false;
  for (const { kind, count = 0, unfinished = false, records = 0, forgets, late = 0, looks = 0 } of steps) {
    if (kind === "compress" && isTruncated) await reading.look(0);
    isTruncated = kind === "copyTruncate" || (isTruncated && !/look|compress/.test(kind));
    if (seen && /rename|copy/.test(kind)) {
      log.write(1, false);
      await reading.look(0);
    }
    if (kind === "write") log.write(count, unfinished);
    else if (kind === "look") await reading.look(records, undefined, forgets);
    else if (kind === "restart") await reading.restart();
    else if (kind === "rename") log.rename(late);
    else if (kind === "rename while it is read") await reading.look(3, () => log.rename(late));
    else if (kind === "copyTruncate") log.copyTruncate();
    else
      for (const _ of log.compress()) {
        if (looks > 0) await reading.look(looks);
        if (looks > 2) await reading.restart();
      }
  }
  log.write(1, false);
  while ((await reading.look()) > 0);
}

for (const [title, options] of [
  ["a folder", (log: Log) => ({ path: log.folder })],
  ["names that rotations change", (log: Log) => ({ path: log.folder, include: "*.log" })],
  ["a single file", (log: Log) => ({ path: log.path("app.log") })],
] as const)
  test(`each line is read once, however the log is rotated: ${title}`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ header: fc.constantFrom("", header), packAs: fc.constantFrom("gz" as const, "zst" as const) }),
        fc.array(step, { minLength: 3, maxLength: 25 }),
        async (how, steps) => {
          const log = new Log(how);
          const reading = new Reading(options(log));
          try {
            await run(log, reading, steps, title !== "a folder");
            assert.deepEqual([...reading.rows].sort(), [...log.written].sort());
          } finally {
            await reading.close();
            log.dispose();
          }
        },
      ),
      { numRuns: 80 * times },
    );
  });
