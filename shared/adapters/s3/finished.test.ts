import assert from "node:assert/strict";
import { test } from "node:test";
import { Finished } from "./finished.ts";

const object = (n: number) => ({ key: `in/${n}`, etag: `"${n}"`, bytes: 1 });
const day = 24 * 60 * 60_000;

test("finished objects are remembered in few bytes, with their version", () => {
  const objects = Array.from({ length: 10_000 }, (_, n) => object(n));
  const status = new Finished().status([], objects, 0);
  assert.ok(JSON.stringify(status).length < 10_000 * 17);
  const finished = new Finished(JSON.parse(JSON.stringify(status?.identity)));
  assert.ok(objects.every((one) => finished.has(one)));
  assert.ok(!finished.has(object(10_000)) && !finished.has({ ...object(1), etag: '"2"' }));
  assert.equal(new Finished().status([], [], 0), undefined);
});

test("those that are gone are remembered for a day, and forgotten after it; one that comes back is the one that it was", () => {
  let status = new Finished().status([], [object(1), object(2)], 0);
  for (let now = day / 4; now < day; now += day / 4) {
    const finished = new Finished(status!.identity);
    assert.ok(finished.has(object(1)) && finished.has(object(2)));
    status = finished.status([object(1)], [], now);
  }
  const back = new Finished(status!.identity).status([object(1), object(2)], [], day);
  assert.ok(new Finished(back!.identity).has(object(2)));
  const later = new Finished(status!.identity).status([object(1)], [], 2 * day);
  assert.ok(!new Finished(later!.identity).has(object(2)) && new Finished(later!.identity).has(object(1)));
  let none = later!.identity;
  for (let days = 3; days < 6; days++) none = new Finished(none).status([], [], days * day)!.identity;
  assert.deepEqual(none, { finished: "", gone: {} }, "the record is kept, since the ledger knows it");
});
