import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { MalformedError } from "./bytes.ts";
import { GroupedObjectWriter } from "./grouped-object.ts";
import { type GetRange, openGroups } from "./open-groups.ts";

type Payloads = readonly (readonly [group: number, bytes: Uint8Array])[];

function write(payloads: Payloads, note = 0): Buffer {
  const object = new GroupedObjectWriter("TEST", note);
  for (const [group, bytes] of payloads) {
    object.begin(group);
    object.writer.raw(bytes);
  }
  return Buffer.concat(object.finish());
}

function from(object: Uint8Array, log: [number, number][] = []): GetRange {
  return async ({ start, end }) => {
    const bytes = object.slice(start, end);
    log.push([start, bytes.length]);
    return bytes;
  };
}

async function read(object: Uint8Array, range: { from: number; to: number }): Promise<[number, Uint8Array][]> {
  const groups = await (await openGroups(from(object), "TEST"))!.read(
    (group) => range.from <= group && group < range.to,
  );
  return [...groups].map(([group, { bytes, at, end }]) => [group, Uint8Array.from(bytes.subarray(at, end))]);
}

const payloads = fc
  .uniqueArray(fc.tuple(fc.nat(127), fc.uint8Array({ maxLength: 300 })), {
    selector: ([group]) => group,
    maxLength: 30,
  })
  .map((list) => list.toSorted(([a], [b]) => a - b));

test("gives exactly the key groups that are asked for", async () => {
  await fc.assert(
    fc.asyncProperty(payloads, fc.nat(128), fc.nat(128), async (list, a, b) => {
      const range = { from: Math.min(a, b), to: Math.max(a, b) };
      const expected = list.filter(([group]) => range.from <= group && group < range.to);
      assert.deepEqual(await read(write(list), range), expected);
    }),
  );
});

test("keeps its note", async () => {
  assert.equal((await openGroups(from(write([], 7)), "TEST"))?.note, 7);
});

test("reads the header and the blocks of the groups, and little else", async () => {
  const list = Array.from({ length: 128 }, (_, group) => [group, randomBytes(64 * 1024)] as const);
  const object = write(list);
  const log: [number, number][] = [];
  const groups = await (await openGroups(from(object, log), "TEST"))!.read((group) => 64 <= group && group < 66);
  assert.deepEqual([...groups.keys()], [64, 65]);
  assert.equal(log.length, 2);
  assert.ok(log.reduce((sum, [, size]) => sum + size, 0) < 700 * 1024);
});

test("compresses", () => {
  const list = Array.from({ length: 128 }, (_, group) => [group, Buffer.alloc(200, "word ")] as const);
  assert.ok(write(list).length < 3000);
});

test("no object is no object", async () => {
  assert.equal(await openGroups(async () => undefined, "TEST"), undefined);
});

test("any byte flipped, and any end cut off, is found", async () => {
  const list = [
    [3, Buffer.from("small")],
    [5, Buffer.alloc(500, "text that shrinks ")],
  ] as const;
  const object = write(list);
  for (let at = 0; at < object.length; at++) {
    const flipped = Uint8Array.from(object);
    flipped[at]! ^= 1 << (at % 8);
    await assert.rejects(read(flipped, { from: 0, to: 128 }), MalformedError, `byte ${at}`);
    await assert.rejects(read(object.subarray(0, at), { from: 0, to: 128 }), MalformedError, `cut at ${at}`);
  }
  assert.deepEqual(await read(object, { from: 3, to: 4 }), [[3, Uint8Array.from(list[0][1])]]);
});

test("something else is refused", async () => {
  await assert.rejects(openGroups(from(write([])), "ELSE"), /something else/);
});
