import assert from "node:assert/strict";
import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as nodeTest, type TestContext } from "node:test";
import { LossError } from "../../errors.ts";
import type { KnownPartition } from "../../ports/source.ts";
import { readValues, wholeRange } from "../../testing/source-scenario.ts";
import { createFilesSource } from "./source.ts";

/** Tests in which files that were read to their end are no partitions any more, but in the record. */
const recording = new WeakSet<TestContext>();

/** Files are known in the same way, whether they are partitions still or in the record. */
function test(title: string, body: (context: TestContext) => Promise<void>): void {
  nodeTest(title, body);
  nodeTest(`${title} (finished files are in the record)`, async (context) => {
    recording.add(context);
    await body(context);
  });
}

/** What a pipeline remembers between runs, and reads in each: the new records by partition. */
class Reader {
  readonly folder: string;
  readonly #path: string;
  readonly #bounded: boolean;
  readonly #finishedPartitions: number;
  #known: KnownPartition[] = [];

  constructor(folder: string, { path = folder, bounded = true, finishedPartitions = 100 } = {}) {
    this.folder = folder;
    this.#path = path;
    this.#bounded = bounded;
    this.#finishedPartitions = finishedPartitions;
  }

  /** Reads what is new, or so many records of each partition. */
  async read(records = Number.POSITIVE_INFINITY): Promise<Record<string, string[]>> {
    const machine = { open, readdir, stat, finishedPartitions: this.#finishedPartitions };
    const source = createFilesSource({ path: this.#path, bounded: this.#bounded }, machine);
    const found: Record<string, string[]> = {};
    const known: KnownPartition[] = [];
    for (const partition of await source.discover(this.#known)) {
      const { id, identity } = partition;
      const from = this.#known.find((one) => one.id === id)?.position ?? partition.start;
      const range = { ...wholeRange(partition), from };
      const { to } = from < range.to && records > 0 ? await source.cut(range, { records }) : { to: from };
      if (to > from) found[id] = await readValues(source, { ...range, to });
      if (!partition.isOver) known.push({ id, identity, position: to });
    }
    this.#known = known;
    return found;
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(this.file(name), text);
  }
}

async function reader(context: TestContext, options: { file?: string; bounded?: boolean } = {}): Promise<Reader> {
  const folder = await mkdtemp(join(tmpdir(), "epochflow-identity-"));
  context.after(() => rm(folder, { recursive: true }));
  return new Reader(folder, {
    ...options,
    ...(recording.has(context) && { finishedPartitions: 0 }),
    ...(options.file === undefined ? {} : { path: join(folder, options.file) }),
  });
}

const header = "# the same long beginning\n".repeat(60);

test("a file that is renamed goes on where it was, and the one that takes its name is new", async (context) => {
  const input = await reader(context);
  await input.write("a.log", "1\n2\n3\n");
  assert.deepEqual(await input.read(2), { "a.log": ["1", "2"] });
  await rename(input.file("a.log"), input.file("a.log.1"));
  await appendFile(input.file("a.log.1"), "4\n");
  await input.write("a.log", "5\n");
  assert.deepEqual(await input.read(), { "a.log": ["3", "4"], "a.log~2": ["5"] });
  assert.deepEqual(await input.read(), {});
});

test("inodes tell a chain of rotations apart, where all files begin the same", async (context) => {
  const input = await reader(context);
  await input.write("a", `${header}1\n`);
  assert.equal((await input.read()).a?.at(-1), "1");
  for (const next of [2, 3, 4]) {
    for (const number of [3, 2, 1])
      await rename(input.file(`a.${number}`), input.file(`a.${number + 1}`)).catch(() => {});
    await rename(input.file("a"), input.file("a.1"));
    await input.write("a", `${header}${next}\n`);
    const found = await input.read();
    assert.deepEqual(Object.keys(found), [`a~${next}`]);
    assert.equal(found[`a~${next}`]?.at(-1), String(next));
  }
});

test("the rest of a single file is read after a rotation", async (context) => {
  const input = await reader(context, { file: "a.log" });
  await input.write("a.log", "1\n2\n");
  await input.write("b.log", "1\n2\n3\n");
  assert.deepEqual(await input.read(1), { "a.log": ["1"] });
  await rename(input.file("a.log"), input.file("a.log.1"));
  await appendFile(input.file("a.log.1"), "3\n");
  assert.deepEqual(await input.read(), { "a.log": ["2", "3"] });
  await input.write("a.log", "4\n");
  assert.deepEqual(await input.read(), { "a.log~2": ["4"] });
});

test("what lies beside a single file is not taken for it", async (context) => {
  const input = await reader(context, { file: "a.log" });
  await input.write("a.log", "1\n");
  await input.write("b.log", "1\n2\n");
  assert.deepEqual(await input.read(), { "a.log": ["1"] });
  await rm(input.file("a.log"));
  assert.deepEqual(await input.read(), {});
});

test("a restored copy is the same file: under its name, or another", async (context) => {
  const input = await reader(context);
  await input.write("a", "1\n2\n");
  assert.deepEqual(await input.read(1), { a: ["1"] });
  await mkdir(input.file(".backup"));
  await copyFile(input.file("a"), input.file(".backup/a"));
  await rm(input.file("a"));
  await copyFile(input.file(".backup/a"), input.file("a"));
  await appendFile(input.file("a"), "3\n");
  assert.deepEqual(await input.read(), { a: ["2", "3"] });
  await copyFile(input.file("a"), input.file("b"));
  await rm(input.file("a"));
  assert.deepEqual(await input.read(), {});
});

test("a log that is copied and truncated is read on in its copy", async (context) => {
  const input = await reader(context);
  await input.write("a", `${header}1\n2\n`);
  assert.equal((await input.read(61)).a?.at(-1), "1");
  await copyFile(input.file("a"), input.file("a.1"));
  await truncate(input.file("a"));
  assert.deepEqual(await input.read(), { a: ["2"] });
  await appendFile(input.file("a"), "3\n");
  assert.deepEqual(await input.read(), { "a~2": ["3"] });
});

test("so it is where the truncated one has begun again in the same way", async (context) => {
  const input = await reader(context);
  await input.write("a", `${header}1\n2\n`);
  assert.equal((await input.read(61)).a?.at(-1), "1");
  await copyFile(input.file("a"), input.file("a.1"));
  await input.write("a", header);
  const found = await input.read();
  assert.deepEqual(found.a, ["2"]);
  assert.equal(found["a~2"]?.length, 60);
});

test("one file is not taken for two, and first for the one that has more to read", async (context) => {
  const input = await reader(context);
  await input.write("a", `${header}1\n`);
  await input.write("b", `${header}1\n2\n`);
  await input.read(61);
  await copyFile(input.file("b"), input.file(".c"));
  await rm(input.file("a"));
  await rm(input.file("b"));
  await rename(input.file(".c"), input.file("c"));
  assert.deepEqual(await input.read(), { b: ["2"] });
  await appendFile(input.file("c"), "3\n");
  assert.deepEqual(await input.read(), { b: ["3"] });
});

test("of two copies each is that of its original, though one begins with all of the other", async (context) => {
  const input = await reader(context);
  await input.write("a", `${header}1\n2\n`);
  await input.write("a.1", header);
  await input.read(1);
  await rename(input.file("a.1"), input.file(".moved"));
  await copyFile(input.file(".moved"), input.file("a.2"));
  await copyFile(input.file("a"), input.file("a.1"));
  await truncate(input.file("a"));
  const found = await input.read();
  assert.deepEqual([found.a?.length, found["a.1"]?.length], [61, 59]);
});

test("a new file that begins like a short one that is gone is new", async (context) => {
  const input = await reader(context);
  await input.write("a", "1\n");
  assert.deepEqual(await input.read(), { a: ["1"] });
  await rm(input.file("a"));
  await input.write("b", "1\n2\n");
  assert.deepEqual(await input.read(), { b: ["1", "2"] });
});

test("two files with the same content are two", async (context) => {
  const input = await reader(context);
  await input.write("a", "1\n");
  await input.write("b", "1\n");
  assert.deepEqual(await input.read(), { a: ["1"], b: ["1"] });
  await appendFile(input.file("b"), "2\n");
  assert.deepEqual(await input.read(), { b: ["2"] });
  await input.write("c", "1\n2\n3\n");
  assert.deepEqual(await input.read(), { c: ["1", "2", "3"] });
});

test("an empty file is nothing yet, and a short one stays itself as it grows", async (context) => {
  const input = await reader(context, { bounded: false });
  await input.write("a", "");
  assert.deepEqual(await input.read(), {});
  await appendFile(input.file("a"), "begin");
  assert.deepEqual(await input.read(), {});
  await appendFile(input.file("a"), `ning\n${header}`);
  assert.equal((await input.read()).a?.length, 61);
  await appendFile(input.file("a"), "end\n");
  assert.deepEqual(await input.read(), { a: ["end"] });
});

test("after its end a file is done: it may go, and another take its name", async (context) => {
  const input = await reader(context);
  await input.write("a", "1\n");
  await input.write("z", "0\n");
  assert.deepEqual(await input.read(), { a: ["1"], z: ["0"] });
  await rm(input.file("a"));
  assert.deepEqual(await input.read(), {});
  for (const next of [2, 3]) {
    await input.write("a", `new ${next}\n`);
    assert.deepEqual(await input.read(), { [`a~${next}`]: [`new ${next}`] });
  }
});

test("a file that shrank beyond what was read of it is a loss", async (context) => {
  const input = await reader(context);
  await input.write("a", `${header}1\n2\n3\n`);
  await input.read(61);
  await truncate(input.file("a"), header.length + 4);
  await assert.rejects(input.read(), { code: "input-shrank" });
});

test("a file that was read to its end, and is shorter now, was truncated: what it holds is new", async (context) => {
  const input = await reader(context);
  await input.write("a", `${header}1\n2\n`);
  await input.read();
  await truncate(input.file("a"), 0);
  assert.deepEqual(await input.read(), {});
  await appendFile(input.file("a"), `${header}3\n`);
  assert.deepEqual((await input.read())["a~2"]?.at(-1), "3");
});

test("one that was truncated, and grew in the same way beyond what it was, is taken for an edited one, since nobody can tell", async (context) => {
  const input = await reader(context);
  await input.write("a", `${header}1\n2\n`);
  await input.read();
  await input.write("a", `${header}3\n4\n5\n`);
  await assert.rejects(input.read(), { name: "LossError", code: "input-edited" });
});

test("a new file under a name is new, though it begins like the old one and is longer", async (context) => {
  const input = await reader(context, { file: "a" });
  await input.write("a", `${header}1\n2\n`);
  await input.read();
  await mkdir(input.file("old"));
  await rename(input.file("a"), input.file("old/a"));
  await input.write("a", `${header}3\n4\n5\n`);
  assert.equal((await input.read())["a~2"]?.length, 63);
});

test("a loss names the file, what happened to it, and the way out", async (context) => {
  const input = await reader(context);
  const expect = async (code: string, message: RegExp) =>
    await assert.rejects(input.read(), (error) => {
      assert.ok(error instanceof LossError);
      assert.equal(error.code, code);
      assert.match(error.message, message);
      assert.match(error.wayOut ?? "", /reset/);
      assert.equal(error.place.file, input.file("a"));
      return true;
    });
  await input.write("a", "1\n2\n");
  await input.read(1);
  await truncate(input.file("a"), 3);
  await expect("input-shrank", /had 4 bytes, and now ends at 3/);
  await input.write("a", "3\n4\n");
  await expect("input-replaced", /before it was read beyond 2/);
  await rm(input.file("a"));
  await expect("input-vanished", /is gone, and was read only up to 2/);
  await rm(input.folder, { recursive: true });
  await expect("input-vanished", /is gone/);
  await mkdir(input.folder);
  await input.write("a", "1\n2\n");
  assert.deepEqual(await input.read(), { a: ["2"] });
});

test("a file that was edited in place is found out, where its lines would be cut in two", async (context) => {
  const input = await reader(context);
  const lines = `${header}1\n2\n3\n4\n`;
  await input.write("a", lines);
  await input.read(62);
  for (const edit of [lines.replace("1", "seventeen"), lines.replace("2", "B")]) {
    await input.write("a", edit);
    await assert.rejects(input.read(), { name: "LossError", code: "input-edited", message: /^.*a was edited: .*\d+/ });
  }
  await input.write("a", lines);
  assert.deepEqual(await input.read(), { a: ["3", "4"] });

  await input.write("b", lines);
  const source = createFilesSource({ path: input.folder, bounded: true });
  const partition = (await source.discover([])).find(({ id }) => id === "b")!;
  const range = { ...wholeRange(partition), to: lines.length - 2 };
  await input.write("b", lines.replace("1", "seventeen"));
  await assert.rejects(readValues(source, range), { name: "LossError", code: "input-edited" });
});

test("so is one whose last line would be cut in two, or which lost its end", async (context) => {
  for (const edit of [
    (text: string) => text.replace("\n2\n", "\ntwenty\n"),
    (text: string) => `${text.slice(0, -1)}4`,
  ]) {
    const input = await reader(context);
    const lines = `${header}1\n2\n3\n`;
    await input.write("a", lines);
    const source = createFilesSource({ path: input.folder, bounded: true });
    const [partition] = await source.discover([]);
    await input.write("a", edit(lines));
    await assert.rejects(readValues(source, wholeRange(partition!)), { name: "LossError", code: "input-edited" });
  }
});

test("a line that was read before it was whole is no edit when it goes on, nor when nothing of it is taken at first", async (context) => {
  const input = await reader(context);
  await input.write("a", "1\nhal");
  assert.deepEqual(await input.read(), { a: ["1", "hal"] });
  await appendFile(input.file("a"), "f\n2\n");
  assert.deepEqual(await input.read(0), {});
  assert.deepEqual(await input.read(), { a: ["f", "2"] });
});

test("a file that is renamed between plan and read is found", async (context) => {
  const input = await reader(context);
  await input.write("a", "1\n");
  const source = createFilesSource({ path: input.folder, bounded: true });
  const [partition] = await source.discover([]);
  await rename(input.file("a"), input.file("b"));
  assert.deepEqual(await readValues(source, wholeRange(partition!)), ["1"]);
});

test("an identity that another source made is refused", async (context) => {
  const input = await reader(context);
  const source = createFilesSource({ path: input.folder, bounded: true });
  for (const identity of [
    null,
    "topic",
    { file: "../x", inode: "1", bytes: 1, sha256: "", seen: 1, seenInLine: false, ended: 0 },
  ]) {
    await assert.rejects(source.discover([{ id: "x", identity, position: 0 }]), { code: "input-identity-invalid" });
  }
});

nodeTest("a file that is renamed again while it is looked for is no loss", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "epochflow-source-"));
  context.after(() => rm(folder, { recursive: true }));
  const file = (name: string) => join(folder, name);
  await writeFile(file("app.log"), "1\n2\n");
  let renamed = 0;
  const machine = {
    open,
    stat,
    async readdir(path: string) {
      const names = await readdir(path);
      if (renamed > 0 && renamed < 3) await rename(file(`app.log.${renamed}`), file(`app.log.${++renamed}`));
      return names;
    },
  };
  const source = createFilesSource({ path: folder, bounded: true }, machine as never);
  const [partition] = await source.discover([]);
  await rename(file("app.log"), file("app.log.1"));
  renamed = 1;
  assert.deepEqual(await readValues(source, wholeRange(partition!)), ["1", "2"]);
  assert.equal(renamed, 3);
  await rename(file("app.log.3"), file("app.log.1"));
  renamed = 1;
  const known = [{ id: partition!.id, identity: partition!.identity, position: 2 }];
  const [again] = await source.discover(known);
  assert.deepEqual([again!.id, again!.end, renamed], [partition!.id, 4, 3]);
});
