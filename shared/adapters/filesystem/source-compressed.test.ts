import assert from "node:assert/strict";
import {
  appendFile,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import type { KnownPartition, PartitionStatus, Source } from "../../ports/source.ts";
import { sourceConformance } from "../../testing/source-conformance.ts";
import { readValues, recordsOf, wholeRange } from "../../testing/source-scenario.ts";
import { createFilesSource } from "./source.ts";

const formats = {
  gzip: { ending: "gz", pack: (bytes: string | Uint8Array) => gzipSync(bytes) },
  zstd: {
    ending: "zst",
    pack: (bytes: string | Uint8Array) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
  },
};
const lines = (values: readonly string[]) => values.map((value) => `${value}\n`).join("");

/** A folder, and sources on it that are closed with it. */
async function place() {
  const folder = await mkdtemp(join(tmpdir(), "epochflow-compressed-"));
  const sources: Source[] = [];
  return {
    folder,
    path: (name: string) => join(folder, name),
    open: (options: Partial<Parameters<typeof createFilesSource>[0]> = {}) => {
      const source = createFilesSource({ path: folder, bounded: true, ...options });
      sources.push(source);
      return source;
    },
    close: async () => {
      for (const source of sources) await source.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function placeOf(context: TestContext) {
  const made = await place();
  context.after(() => made.close());
  return made;
}

const known = ({ id, identity }: PartitionStatus, position: number): KnownPartition => ({
  id,
  identity: JSON.parse(JSON.stringify(identity)),
  position,
});

for (const [name, { ending, pack }] of Object.entries(formats)) {
  const fileOf = (partition: string) => `${partition}.${ending}`;
  sourceConformance(
    `files, ${name}`,
    async () => {
      const one = await place();
      return {
        ...one,
        open: () => one.open(),
        append: async (partition, values) => await writeFile(one.path(fileOf(partition)), pack(lines(values))),
        grows: false as const,
        splits: false as const,
      };
    },
    {
      "the file is gone": async ({ path }, one) => await rm(path(fileOf(one))),
      "the file was cut off": async ({ path }, one) => await truncate(path(fileOf(one)), 60),
      "the file was replaced": async ({ path }, one) =>
        await writeFile(path(fileOf(one)), pack("other\n".repeat(1000))),
    },
  );

  suite(`files, ${name}`, () => {
    test("members and frames one after the other are one file, whatever its name says", async (context) => {
      const { path, open } = await placeOf(context);
      const parts = Array.from({ length: 300 }, (_, n) => pack(`${n}a\n${n}b\n${n}`));
      await writeFile(path("log"), Buffer.concat([pack(""), ...parts, pack("")]));
      const source = open();
      const [one] = await source.discover([]);
      const expected = Array.from({ length: 300 }, (_, n) => `${n}a\n${n}b\n${n}`).join("");
      assert.deepEqual(await readValues(source, wholeRange(one!)), expected.split("\n"));
    });

    test("a damaged one is a loss before any of its records is read, and names the file", async (context) => {
      const { path, open } = await placeOf(context);
      const bytes = pack(lines(Array.from({ length: 5000 }, (_, n) => `record ${n} ${Math.sin(n)}`)));
      for (const at of [bytes.length - 2, bytes.length - 6, Math.floor(bytes.length / 2)]) {
        const damaged = Buffer.from(bytes);
        damaged[at]! ^= 0x10;
        await writeFile(path(fileOf("a")), damaged);
        await assert.rejects(open().discover([]), { name: "LossError", message: new RegExp(fileOf("a")) });
      }
      await writeFile(path(fileOf("a")), Buffer.concat([bytes, Buffer.from("and plain text\n")]));
      await assert.rejects(open().discover([]), { code: "input-damaged" });
    });

    test("one that is being written waits to be whole, and is loud if nobody goes on", async (context) => {
      const { path, open } = await placeOf(context);
      const bytes = pack(lines(Array.from({ length: 50_000 }, (_, n) => `record ${n} ${Math.sin(n)}`)));
      for (const length of [5, 30, Math.floor(bytes.length / 2), bytes.length - 1]) {
        await writeFile(path(fileOf("a")), bytes.subarray(0, length));
        assert.deepEqual(await open({ bounded: false }).discover([]), [], `${length} bytes`);
        await assert.rejects(open().discover([]), { code: "input-incomplete" });
      }
      const later = createFilesSource(
        { path: path(""), bounded: false },
        { open: (await import("node:fs/promises")).open, readdir, stat, now: () => Date.now() + 11 * 60_000 },
      );
      await assert.rejects(later.discover([]), { code: "input-incomplete", message: /not whole/ });
      await writeFile(path(fileOf("a")), bytes);
      const [one] = await open({ bounded: false }).discover([]);
      assert.equal((await readValues(open(), wholeRange(one!))).length, 50_000);
    });

    test("a log that is rotated and compressed is the file that it was", async (context) => {
      const { path, open } = await placeOf(context);
      for (const header of ["", "# the same long beginning\n".repeat(60)]) {
        await writeFile(path("access.log"), `${header}1\n2\n`);
        const source = open({ bounded: false });
        const [first] = (await source.discover([])).filter(({ id }) => id === "access.log");
        const { to } = await source.cut(wholeRange(first!), { records: header === "" ? 1 : 61 });
        await appendFile(path("access.log"), "3\nlast");
        await rename(path("access.log"), path("access.log.1"));
        await writeFile(path("access.log"), `${header}4\n`);
        // gzip leaves both until the compressed one is whole.
        const bytes = pack(await readFile(path("access.log.1")));
        for (const written of [bytes.length - 3, bytes.length]) {
          await writeFile(path(fileOf("access.log.1")), bytes.subarray(0, written));
          assert.deepEqual(
            (await open({ bounded: false }).discover([known(first!, to)])).map(({ id }) => id),
            ["access.log", "access.log~2"],
          );
        }
        await rm(path("access.log.1"));
        const [old, fresh, ...others] = await open({ bounded: false }).discover([known(first!, to)]);
        assert.deepEqual([old!.id, fresh!.id, others.length], ["access.log", "access.log~2", 0]);
        assert.deepEqual(await readValues(open(), { ...wholeRange(old!), from: to }), ["2", "3", "last"]);
        const range = { ...wholeRange(first!), from: to };
        assert.deepEqual(await readValues(open(), range), ["2"], "what was planned before is read from it");
        await rename(path(fileOf("access.log.1")), path(fileOf("access.log.2")));
        const after = await open({ bounded: false }).discover([known(old!, old!.end), known(fresh!, fresh!.end)]);
        assert.deepEqual(
          after.map(({ id, end }) => [id, end]),
          [
            ["access.log", old!.end],
            ["access.log~2", fresh!.end],
          ],
        );
        for (const name of await readdir(path(""))) await rm(path(name));
      }
    });

    test("records have the places that they have in the text", async (context) => {
      const { path, open } = await placeOf(context);
      await writeFile(path(fileOf("a")), pack("one\n\nthree\n"));
      const source = open();
      const [one] = await source.discover([]);
      assert.deepEqual(await recordsOf(source, wholeRange(one!)), [
        { offset: 0, value: "one" },
        { offset: 4, value: "" },
        { offset: 5, value: "three" },
      ]);
      assert.equal((await source.place?.(wholeRange(one!), 5))?.line, 3);
    });
  });
}

test("a file is not decompressed again and again: what epochs cost does not grow with where they are", async (context) => {
  const { path, folder } = await placeOf(context);
  const text = lines(Array.from({ length: 400_000 }, (_, n) => `record ${n} ${(n * 7919) % 1000}`));
  await writeFile(path("a.gz"), gzipSync(text, { level: 1 }));
  const packed = (await stat(path("a.gz"))).size;
  let bytes = 0;
  const counting: typeof open = async (...given) => {
    const handle = await open(...given);
    const read = handle.read.bind(handle) as (...args: unknown[]) => Promise<{ bytesRead: number }>;
    handle.read = (async (...args: unknown[]) => {
      const result = await read(...args);
      bytes += result.bytesRead;
      return result;
    }) as never;
    return handle;
  };
  const source = createFilesSource({ path: folder, bounded: true }, { open: counting, readdir, stat });
  let position = 0;
  let epochs = 0;
  let records = 0;
  for (let before: KnownPartition[] = []; ; epochs++) {
    const [one] = await source.discover(before);
    if (position === one!.end) break;
    const range = { ...wholeRange(one!), from: position };
    const { to } = await source.cut(range, { bytes: 100_000 });
    assert.deepEqual(await source.split({ ...range, to }, 1000), []);
    records += (await readValues(source, { ...range, to })).length;
    position = to;
    before = [known(one!, to)];
  }
  await source.close();
  assert.deepEqual([position, records], [text.length, 400_000]);
  assert.ok(epochs > 50);
  // Once for its size, once for Plan, once for Operate; and some bytes an epoch to see that it is the same.
  assert.ok(bytes < 3.5 * packed + epochs * 400_000, `${bytes} of ${packed} in ${epochs} epochs`);
});

test("what is inflated takes no memory that grows with it", async (context) => {
  const { path, open } = await placeOf(context);
  const zeros = Buffer.alloc(64 << 20);
  await writeFile(path("bomb.gz"), Buffer.concat(Array.from({ length: 8 }, () => gzipSync(zeros))));
  await writeFile(path("bomb.zst"), Buffer.concat(Array.from({ length: 8 }, () => zstdCompressSync(zeros))));
  const before = process.memoryUsage();
  let most = 0;
  const timer = setInterval(() => {
    const { rss } = process.memoryUsage();
    most = Math.max(most, rss - before.rss);
  }, 5);
  try {
    for (const name of ["bomb.gz", "bomb.zst"]) {
      const source = open({ maxLineBytes: 1 << 20, path: path(name) });
      const [one] = await source.discover([]);
      assert(one);
      assert.equal(one.end, 512 << 20);
      const batches: unknown[] = [];
      for await (const { errors } of source.read(wholeRange(one))) batches.push(...(errors?.values() ?? []));
      assert.match(String(batches), /^the line is longer than maxLineBytes/);
    }
  } finally {
    clearInterval(timer);
  }
  assert.ok(most < 200 << 20, `${most >> 20} MiB`);
});

test("many are opened a few at a time, and none is left out; those that wait hold the watermark back", async (context) => {
  const { path, open } = await placeOf(context);
  const padding = "x".repeat(2 << 20);
  for (let n = 0; n < 30; n++) await writeFile(path(`${n}.gz`), gzipSync(`${n} ${padding}\n`));
  let before: KnownPartition[] = [];
  const values: string[] = [];
  for (let rounds = 0; ; rounds++) {
    const source = open({ bounded: rounds % 2 === 0 });
    const found = await source.discover(before);
    assert.equal(found.length, 30);
    const positions = new Map(before.map((one) => [one.id, one.position]));
    const readable = found.filter(({ id, end }) => end > (positions.get(id) ?? 0));
    for (const one of found) if (!readable.includes(one)) assert.ok(positions.has(one.id) || one.high > one.end);
    if (readable.length === 0) break;
    assert.ok(readable.length <= 8);
    for (const one of readable) values.push(...(await readValues(source, wholeRange(one))));
    before = found.map((one) => known(one, one.end));
  }
  assert.deepEqual(
    values.map(Number.parseFloat).sort((a, b) => a - b),
    Array.from({ length: 30 }, (_, n) => n),
  );
});

test("compression may be expected, or not be looked for", async (context) => {
  const { path, open } = await placeOf(context);
  await writeFile(path("a.gz"), gzipSync("text\n"));
  const [one] = await open({ compression: "none" }).discover([]);
  assert.equal(one!.end, gzipSync("text\n").length);
  assert.equal((await open({ compression: "gzip" }).discover([]))[0]?.end, 5);
  await assert.rejects(open({ compression: "zstd" }).discover([]), { code: "input-not-compressed", message: /a\.gz/ });
  await utimes(path("a.gz"), 0, 0);
  assert.throws(() => open({ compression: "bzip2" as never }), { code: "invalid-options" });
});
