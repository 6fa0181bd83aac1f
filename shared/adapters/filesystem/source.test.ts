import assert from "node:assert/strict";
import { appendFile, mkdir, mkdtemp, open, readdir, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { InfrastructureError, UsageError } from "../../errors.ts";
import { sourceConformance } from "../../testing/source-conformance.ts";
import { readValues, recordsOf, wholeRange } from "../../testing/source-scenario.ts";
import { createFilesSource } from "./source.ts";

const lines = (values: readonly string[]) => values.map((value) => `${value}\n`).join("");

async function temporaryFolder(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "epochflow-source-"));
  context.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** All records of all partitions, by id. */
async function readAll(path: string, options: { bounded?: boolean; maxLineBytes?: number } = {}) {
  const source = createFilesSource({ path, bounded: true, ...options });
  const values: Record<string, string[]> = {};
  for (const partition of await source.discover([])) {
    values[partition.id] = await readValues(source, wholeRange(partition));
  }
  return values;
}

for (const bounded of [true, false]) {
  sourceConformance(
    `files, ${bounded ? "bounded" : "followed"}`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "epochflow-source-"));
      return {
        pathOf: (name: string) => join(folder, name),
        open: () => createFilesSource({ path: folder, bounded }),
        append: async (name, values) => await appendFile(join(folder, name), lines(values)),
        close: async () => await rm(folder, { recursive: true }),
      };
    },
    {
      "the file is gone": async ({ pathOf }, name) => await rm(pathOf(name)),
      "the file is gone, and another is there": async ({ pathOf }, name) => {
        await rm(pathOf(name));
        await writeFile(pathOf("two"), "other\n".repeat(1000));
      },
      "the file shrank": async ({ pathOf }, name) => await truncate(pathOf(name), 900),
      "the file is empty": async ({ pathOf }, name) => await truncate(pathOf(name)),
      "the file was replaced": async ({ pathOf }, name) => await writeFile(pathOf(name), "other\n".repeat(1000)),
    },
  );
}

test("a line ends with LF or CRLF, and the last one without either", async (context) => {
  const path = join(await temporaryFolder(context), "input");
  const text = fc.string({
    unit: fc.constantFrom("a", "é", "\u{1f600}", "\r", "\r\n", "\n", "x".repeat(90_000)),
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(text, async (content) => {
      await writeFile(path, content);
      const expected =
        content === ""
          ? undefined
          : content.split("\n").map((line, n, all) => (n < all.length - 1 ? line.replace(/\r$/, "") : line));
      if (expected?.at(-1) === "") expected.pop();
      assert.deepEqual((await readAll(path)).input, expected);
    }),
    { numRuns: 200 },
  );
});

test("an unfinished last line is a record of a bounded run, and what follows it later is the next", async (context) => {
  const path = join(await temporaryFolder(context), "input");
  await writeFile(path, "one\ntw");
  const source = createFilesSource({ path, bounded: true });
  const [first] = await source.discover([]);
  assert.ok(first);
  assert.deepEqual(await recordsOf(source, wholeRange(first)), [
    { offset: 0, value: "one" },
    { offset: 4, value: "tw" },
  ]);
  assert.deepEqual(await source.cut(wholeRange(first), { records: 5 }), { to: 6, records: 2, bytes: 6 });
  await appendFile(path, "o\nthree\n");
  const [later] = await source.discover([{ id: first.id, identity: first.identity, position: 6 }]);
  assert.ok(later);
  assert.deepEqual(await readValues(source, { ...wholeRange(later), from: 6 }), ["o", "three"]);
});

test("the end of a line that was read before it had one is no line", async (context) => {
  for (const [appended, values] of [
    ["\n", []],
    ["\r\n", []],
    ["\nthree\n", ["three"]],
    ["\r\nthree", ["three"]],
    ["\n\nthree", ["", "three"]],
    ["\rx\n", ["\rx"]],
  ] as const) {
    const path = join(await temporaryFolder(context), "input");
    await writeFile(path, "one\ntwo");
    const source = createFilesSource({ path, bounded: true });
    const [first] = await source.discover([]);
    await appendFile(path, appended);
    const [later] = await source.discover([{ id: first!.id, identity: first!.identity, position: 7 }]);
    const range = { ...wholeRange(later!), from: 7 };
    assert.deepEqual(await readValues(source, range), values);
    const { to, records } = await source.cut(range, { records: 5 });
    assert.deepEqual([to, records], [range.to, values.length]);
    const one = await source.cut(range, { records: 1 });
    assert.deepEqual(await readValues(source, { ...range, to: one.to }), values.slice(0, 1));
  }
});

test("an unfinished last line of a followed file waits for its end", async (context) => {
  const path = join(await temporaryFolder(context), "input");
  await writeFile(path, `one\n${"x".repeat(300_000)}`);
  const source = createFilesSource({ path, bounded: false });
  const [first] = await source.discover([]);
  assert.ok(first);
  assert.equal(first.end, 4);
  await appendFile(path, "y\n");
  const [later] = await source.discover([{ id: first.id, identity: first.identity, position: 4 }]);
  assert.equal(later?.end, 4 + 300_000 + 2);
});

test("a byte order mark is no part of the first line, and alone no line; UTF-16 is refused", async (context) => {
  const folder = await temporaryFolder(context);
  const write = (name: string, text: string, encoding?: "utf16le") =>
    writeFile(join(folder, name), `\ufeff${text}`, encoding);
  await write("a", '{"a":1}\r\n\ufefftwo\n');
  await write("b", "");
  await write("c", "\nx");
  assert.deepEqual(await readAll(folder), { a: ['{"a":1}', "\ufefftwo"], c: ["", "x"] });
  await write("d", "text", "utf16le");
  await assert.rejects(readAll(folder), { code: "input-encoding", message: /d is UTF-16/ });
});

test("a folder is read at any depth, but for names that begin with . or _", async (context) => {
  const folder = await temporaryFolder(context);
  for (const name of ["a.log", "b/c.log", "b/.hidden", ".git/x", "_temporary/x", "_SUCCESS", "empty"]) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), name === "empty" ? "" : `${name}\n`);
  }
  await symlink("..", join(folder, "b", "loop"));
  await symlink(join(folder, "nowhere"), join(folder, "broken"));
  assert.deepEqual(await readAll(folder), { "a.log": ["a.log"], "b/c.log": ["b/c.log"] });
  assert.deepEqual(await readAll(join(folder, "b", "c.log")), { "c.log": ["b/c.log"] });
});

test("ids are made of any file name, and of no two the same", async (context) => {
  const folder = await temporaryFolder(context);
  const names = ["a b", "a%20b", "a~2", "a", "ü", "💧", "x".repeat(250), "line\nfeed", "A"];
  for (const name of names) await writeFile(join(folder, name), "1\n");
  const deep = join(folder, ...Array.from({ length: 3 }, (_, n) => String(n).repeat(200)));
  await mkdir(deep, { recursive: true });
  for (const name of ["d".repeat(200), `${"d".repeat(200)}e`]) await writeFile(join(deep, name), "1\n");
  const ids = Object.keys(await readAll(folder));
  assert.equal(new Set(ids).size, names.length + 2);
  for (const id of ids) assert.match(id, /^[A-Za-z0-9._%~/-]{1,512}$/);
  assert.ok(ids.includes("a%7E2"), "a name cannot pass for the second of another");
});

test("a missing input is named, with what may have been meant", async (context) => {
  const folder = await temporaryFolder(context);
  await writeFile(join(folder, "access.log"), "1\n");
  const source = createFilesSource({ path: join(folder, "acess.log"), bounded: true });
  await assert.rejects(source.discover([]), (error) => {
    assert.ok(error instanceof UsageError && error.code === "input-missing");
    assert.match(error.message, /acess\.log does not exist.*"access\.log"/);
    return true;
  });
  await assert.rejects(createFilesSource({ path: "/dev/null", bounded: true }).discover([]), {
    code: "input-not-a-file",
  });
});

test("what the system does not let us read names the file, and may work later", async (context) => {
  const folder = await temporaryFolder(context);
  const path = join(folder, "a.log");
  await writeFile(path, "1\n");
  const [partition] = await createFilesSource({ path, bounded: true }).discover([]);
  assert.ok(partition);
  const failure = (code: string) => Object.assign(new Error(`${code}: injected`), { code });
  const isNamed = (error: unknown) =>
    error instanceof InfrastructureError && error.code === "input-unreadable" && error.message.includes(path);

  const forbidden = createFilesSource(
    { path, bounded: true },
    { readdir, stat, open: () => Promise.reject(failure("EACCES")) },
  );
  await assert.rejects(forbidden.discover([]), isNamed);
  await assert.rejects(readValues(forbidden, wholeRange(partition)), isNamed);

  const broken = createFilesSource(
    { path, bounded: true },
    {
      readdir,
      stat,
      open: async (...given) => {
        const handle = await open(...given);
        handle.read = () => Promise.reject(failure("EIO"));
        return handle;
      },
    },
  );
  await assert.rejects(readValues(broken, wholeRange(partition)), isNamed);
});

test("a line over maxLineBytes is an error of its row alone, which names the limit", async (context) => {
  const path = join(await temporaryFolder(context), "input");
  const length = fc.oneof(
    fc.integer({ min: 0, max: 12 }),
    fc.constantFrom(299_999, 300_000, 300_001, 300_002),
    fc.integer({ min: 250_000, max: 600_000 }),
  );
  const line = fc.record({ length, end: fc.constantFrom("\n", "\r\n") });
  const input = fc.record({ given: fc.array(line, { maxLength: 8 }), maxLineBytes: fc.constantFrom(1, 10, 300_000) });
  await fc.assert(
    fc.asyncProperty(input, async ({ given, maxLineBytes }) => {
      await writeFile(path, `start\n${given.map((one) => "x".repeat(one.length) + one.end).join("")}`);
      const source = createFilesSource({ path, bounded: true, maxLineBytes });
      const [partition] = await source.discover([]);
      const found: { length: number; error: string | undefined }[] = [];
      for await (const { count, valueStart, valueEnd, errors } of source.read(wholeRange(partition!))) {
        for (let row = 0; row < count; row += 1) {
          const error = errors?.get(row);
          if (error !== undefined) assert.match(error, new RegExp(`maxLineBytes \\(${maxLineBytes}\\)$`));
          found.push({ length: valueEnd[row]! - valueStart[row]!, error });
        }
      }
      const lengths = [5, ...given.map((one) => one.length)];
      assert.deepEqual(
        found.map(({ length, error }) => ({ length, tooLong: error !== undefined })),
        lengths.map((one) =>
          one > maxLineBytes
            ? { length: Math.min(maxLineBytes, 1024), tooLong: true }
            : { length: one, tooLong: false },
        ),
      );
    }),
    { numRuns: 100 },
  );
});

test("a very long line takes no more memory than maxLineBytes allows", async (context) => {
  const path = join(await temporaryFolder(context), "input");
  await writeFile(path, "");
  await truncate(path, 1 << 27);
  await appendFile(path, "\nshort\n");
  const source = createFilesSource({ path, bounded: true, maxLineBytes: 1 << 20 });
  const [partition] = await source.discover([]);
  const batches: { count: number; bytes: number; errors: number }[] = [];
  for await (const { count, bytes, errors } of source.read(wholeRange(partition!))) {
    batches.push({ count, bytes: bytes.length, errors: errors?.size ?? 0 });
  }
  assert.deepEqual(
    batches.map(({ count, errors }) => [count, errors]),
    [
      [1, 1],
      [1, 0],
    ],
  );
  for (const { bytes } of batches) assert.ok(bytes <= (1 << 20) + 2);
});

test("lines of the same length are split into pieces of the same size", async (context) => {
  const path = join(await temporaryFolder(context), "input");
  await writeFile(path, "123456789\n".repeat(100));
  const source = createFilesSource({ path, bounded: true });
  const [partition] = await source.discover([]);
  assert.deepEqual(await source.split(wholeRange(partition!), 200), [200, 400, 600, 800]);
  assert.deepEqual(await source.split(wholeRange(partition!), 450), [500]);
});

test("a record's place has its file and line", async (context) => {
  const path = join(await temporaryFolder(context), "input");
  await writeFile(path, "one\n\nthree\n");
  const source = createFilesSource({ path, bounded: true });
  const [partition] = await source.discover([]);
  const place = await source.place?.(wholeRange(partition!), 5);
  assert.deepEqual(place, { partition: "input", offset: 5, file: path, line: 3 });
});

test("options are checked", () => {
  const wrong: object[] = [
    { path: "x", bounded: true, maxLineByte: 1 },
    { path: "", bounded: true },
    { path: "x", bounded: true, maxLineBytes: 0 },
  ];
  for (const options of wrong) assert.throws(() => createFilesSource(options as never), UsageError);
});
