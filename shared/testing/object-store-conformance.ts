import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ObjectStore } from "../ports/object-store.ts";

export interface ObjectStoreUnderTest {
  readonly store: ObjectStore;
  /** A second store over the same objects. */
  another(): Promise<ObjectStore>;
  dispose(): Promise<void>;
}

export type MakeObjectStore = () => Promise<ObjectStoreUnderTest>;

type Check = (title: string, body: (store: ObjectStore, another: () => Promise<ObjectStore>) => Promise<void>) => void;

const durable = { durable: true };
const text = (value: string) => Buffer.from(value);
const read = async (store: ObjectStore, key: string, range?: { start: number; end: number }) => {
  const bytes = await store.get(key, range);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
};
async function listed(store: ObjectStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.list(prefix)) keys.push(key);
  return keys.sort();
}

/**
 * What every `ObjectStore` must do, as tests of `node:test`.
 *
 * @param make an empty store; called once a test
 */
export function objectStoreConformance(name: string, make: MakeObjectStore): void {
  const check: Check = (title, body) => {
    test(title, async () => {
      const { store, another, dispose } = await make();
      try {
        await body(store, another);
      } finally {
        await dispose();
      }
    });
  };
  suite(`ObjectStore: ${name}`, () => {
    contents(check);
    names(check);
    races(check);
  });
}

function contents(check: Check): void {
  check("an object is its chunks, one after the other", async (store) => {
    for (const options of [durable, { durable: false }]) {
      const key = `a/${options.durable}`;
      await store.put(key, [text("one "), text(""), text("two")], options);
      assert.equal(await read(store, key), "one two");
      await store.put(`${key}.empty`, [], options);
      assert.equal(await read(store, `${key}.empty`), "");
    }
    assert.equal(await store.get("a/none"), undefined);
    assert.equal(await store.get("none/at/all"), undefined);
  });

  check("a large object, and views into a larger buffer, come back the same", async (store) => {
    const large = Buffer.alloc(5_000_000, "0123456789abcdef");
    await store.put("large", [large, large.subarray(7, 4_000_000)], durable);
    const bytes = await store.get("large");
    assert(bytes && Buffer.concat([large, large.subarray(7, 4_000_000)]).equals(bytes));
  });

  check("a range gives what is there of it", async (store) => {
    await store.put("k", [text("01234"), text("56789")], durable);
    const ranges: [number, number, string][] = [
      [0, 10, "0123456789"],
      [3, 7, "3456"],
      [9, 10, "9"],
      [4, 4, ""],
      [8, 99, "89"],
      [10, 12, ""],
      [50, 60, ""],
    ];
    for (const [start, end, expected] of ranges) assert.equal(await read(store, "k", { start, end }), expected);
  });

  check("an object of many chunks, some of them empty, is all of them in order", async (store) => {
    const chunks = Array.from({ length: 3000 }, (_, index) => text(index % 7 === 0 ? "" : `${index} `));
    await store.put("many", chunks, durable);
    assert.equal(await read(store, "many"), chunks.join(""));
  });

  check("what is read into given memory is what is read", async (store) => {
    await store.put("k", [text("0123456789")], durable);
    for (const size of [0, 4, 5, 100])
      for (const range of [{ start: 2, end: 7 }, { start: 8, end: 20 }, undefined]) {
        const found = await store.get("k", range, Buffer.alloc(size, "x"));
        assert.equal(Buffer.from(found!).toString(), "0123456789".slice(range?.start, range?.end));
      }
  });

  check("what was put, and what was got, may be changed by its owner", async (store) => {
    const given = text("given");
    await store.put("k", [given], durable);
    given.fill("x");
    (await store.get("k"))?.fill(0);
    assert.equal(await read(store, "k"), "given");
  });

  check("I2: a key is never overwritten", async (store, another) => {
    await store.put("k", [text("first")], durable);
    for (const each of [store, await another()])
      await assert.rejects(each.put("k", [text("second")], durable), {
        name: "LossError",
        code: "object-exists",
        message: /\bk\b/,
      });
    assert.equal(await read(store, "k"), "first");
    await store.delete(["k"]);
    await store.put("k", [text("third")], durable);
    assert.equal(await read(store, "k"), "third");
  });
}

function names(check: Check): void {
  check("list gives the keys that begin with a prefix, at any character", async (store) => {
    const keys = ["a/b/c", "a/b/d", "a/bc", "a.b", "b/1=%2F_-/x"];
    assert.deepEqual(await listed(store, ""), []);
    for (const key of keys) await store.put(key, [text(key)], { durable: false });
    for (const prefix of ["", "a", "a/", "a/b", "a/b/", "a/b/c", "a/b/c/", "b/1=%", "c", "x/y/z", "."])
      assert.deepEqual(await listed(store, prefix), keys.filter((key) => key.startsWith(prefix)).sort(), prefix);
  });

  check("delete removes keys, and does not mind missing ones", async (store, another) => {
    for (const key of ["a/b/c", "a/b/d", "e"]) await store.put(key, [text(key)], durable);
    await store.delete(["a/b/c", "e", "none", "no/such/folder", "a/b/c"]);
    assert.deepEqual(await listed(await another(), ""), ["a/b/d"]);
    await store.delete([]);
    await store.delete(["a/b/d"]);
    assert.deepEqual(await listed(store, ""), []);
    await store.put("a/b/d", [text("again")], durable);
    assert.equal(await read(store, "a/b/d"), "again");
  });

  check("a key that leads out of the store is refused, whatever is done with it", async (store) => {
    const wrong = [
      "",
      "/",
      "/a",
      "a/",
      "a//b",
      "..",
      "../a",
      "a/../../b",
      ".",
      "a/.",
      "a b",
      "a\\b",
      "a\0",
      "ü",
      "~a",
      "a\n",
    ];
    for (const key of wrong) {
      const code = { code: "object-key", kind: "loss" };
      await assert.rejects(store.put(key, [text("x")], durable), code, key);
      await assert.rejects(store.get(key), code, key);
      await assert.rejects(store.delete(["fine", key]), code, key);
    }
    for (const prefix of ["/", "../", "a/../", "a//", "ü"])
      await assert.rejects(listed(store, prefix), { code: "object-key" }, prefix);
    for (const key of ["...", ".a", "..a", "a..", "%2E%2E/b"]) await store.put(key, [text(key)], durable);
    assert.deepEqual(await listed(store, ".."), ["...", "..a"]);
  });
}

function races(check: Check): void {
  check("of many who put one key, one succeeds, and readers see it whole", async (store, another) => {
    const other = await another();
    for (let round = 0; round < 5; round++) {
      const key = `race/${round}`;
      const body = (index: number) => String.fromCharCode(97 + index).repeat(200_000);
      const writers = Array.from({ length: 8 }, (_, index) =>
        (index % 2 ? other : store).put(key, [text(body(index).slice(1)), text(body(index).slice(0, 1))], durable),
      );
      const readers = Array.from({ length: 20 }, () => read(other, key));
      const outcomes = await Promise.allSettled(writers);
      const winners = outcomes.flatMap((one, index) => (one.status === "fulfilled" ? [index] : []));
      assert.equal(winners.length, 1);
      for (const seen of [await read(store, key), ...(await Promise.all(readers))])
        if (seen !== undefined) assert(seen === body(winners[0]!));
      for (const one of outcomes) if (one.status === "rejected") assert.equal(one.reason.code, "object-exists");
    }
  });

  check("objects are put and deleted beside each other, in the same places", async (store, another) => {
    const other = await another();
    const live = async (each: ObjectStore, worker: number) => {
      for (let round = 0; round < 25; round++) {
        const key = `shared/${round % 3}/deep/${worker}-${round}`;
        await each.put(key, [text(key)], { durable: round % 2 === 0 });
        assert.equal(await read(each, key), key);
        await listed(each, "shared/");
        if (round > 0) await each.delete([key]);
      }
    };
    await Promise.all([0, 1, 2, 3].map((worker) => live(worker % 2 ? other : store, worker)));
    assert.deepEqual(
      await listed(store, ""),
      [0, 1, 2, 3].map((worker) => `shared/0/deep/${worker}-0`),
    );
  });
}
