import assert from "node:assert/strict";
import { test } from "node:test";
import { itemBytes, UnitCounter } from "./dynamodb-units.ts";

const key = { pk: { S: "p" }, sk: { S: "s" } };
/** An item of so many bytes. */
const itemOf = (bytes: number) => ({ ...key, v: { S: "x".repeat(bytes - itemBytes({ ...key, v: { S: "" } })) } });
const TableName = "t";
const ok = (counter: UnitCounter, operation: string, request: object, answer: object = {}) =>
  counter.count(operation, request, 200, answer);
const refused = { __type: "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException" };

test("an item is as long as its names and values, by their types", () => {
  const cases: [Parameters<typeof itemBytes>[0], number][] = [
    [{ név: { S: "ünï" } }, 4 + 5],
    [{ n: { N: "12345" } }, 1 + 3 + 1],
    [{ n: { N: "-1200" } }, 1 + 1 + 1 + 1],
    [{ b: { B: Buffer.from("bytes").toString("base64") as never } }, 1 + 5],
    [{ t: { BOOL: true }, u: { NULL: true } }, 2 + 2],
    [{ m: { M: { a: { S: "xy" } } } }, 1 + 3 + 1 + 1 + 2],
    [{ l: { L: [{ S: "x" }, { N: "7" }] } }, 1 + 3 + 1 + 1 + 1 + 2],
    [{ s: { SS: ["ab", "c"] } }, 1 + 3],
  ];
  for (const [item, bytes] of cases) assert.equal(itemBytes(item), bytes, JSON.stringify(item));
});

/** The examples of AWS's pages on request units, and their edges. */
test("reads cost by blocks of 4 KB: half for eventual consistency, twice in a transaction", () => {
  const read = (bytes: number, ConsistentRead: boolean) => {
    const answer = bytes === 0 ? {} : { Item: itemOf(bytes) };
    return ok(new UnitCounter(), "GetItem", { TableName, Key: key, ConsistentRead }, answer).read;
  };
  assert.deepEqual(
    [3500, 4096, 4097, 8192, 0].map((bytes) => [read(bytes, true), read(bytes, false)]),
    [
      [1, 0.5],
      [1, 0.5],
      [2, 1],
      [2, 1],
      [1, 0.5],
    ],
  );
  const TransactItems = [{ Get: { TableName, Key: key } }];
  const Responses = [{ Item: itemOf(8192) }];
  assert.equal(ok(new UnitCounter(), "TransactGetItems", { TransactItems }, { Responses }).read, 4);
});

test("a query costs by the sum of what it reads", () => {
  const Items = [
    { ...itemOf(3000), sk: { S: "1" } },
    { ...itemOf(3000), sk: { S: "2" } },
  ];
  assert.equal(ok(new UnitCounter(), "Query", { TableName, ConsistentRead: true }, { Items }).read, 2);
  assert.equal(ok(new UnitCounter(), "Query", { TableName, ConsistentRead: true }, { Items: [] }).read, 1);
});

test("writes cost by blocks of 1 KB of the larger item, before or after; twice in a transaction", () => {
  const counter = new UnitCounter();
  const put = (bytes: number) => ok(counter, "PutItem", { TableName, Item: itemOf(bytes) }).write;
  assert.deepEqual([put(1024), put(2049), put(100), put(100)], [1, 3, 3, 1]);
  const transact = (bytes: number) =>
    ok(counter, "TransactWriteItems", { TransactItems: [{ Put: { TableName, Item: itemOf(bytes) } }] }).write;
  assert.deepEqual([transact(3072), transact(500)], [6, 6]);
});

test("a check within a transaction costs a write of what is there", () => {
  const counter = new UnitCounter();
  ok(counter, "GetItem", { TableName, Key: key, ConsistentRead: true }, { Item: itemOf(1500) });
  const check = (sk: string) => ({ ConditionCheck: { TableName, Key: { ...key, sk: { S: sk } } } });
  assert.equal(ok(counter, "TransactWriteItems", { TransactItems: [check("s"), check("none")] }).write, 4 + 2);
});

test("a condition that fails costs what the write would have, and changes nothing; what is throttled is free", () => {
  const counter = new UnitCounter();
  const put = { TableName, Item: itemOf(3000) };
  assert.equal(counter.count("PutItem", put, 400, refused).write, 3);
  assert.equal(ok(counter, "PutItem", { TableName, Item: itemOf(100) }).write, 1);
  const throttled = { __type: "ProvisionedThroughputExceededException" };
  assert.deepEqual(counter.count("PutItem", put, 400, throttled), { read: 0, write: 0 });
});

test("a delete costs by what is deleted", () => {
  const counter = new UnitCounter();
  ok(counter, "PutItem", { TableName, Item: itemOf(2500) });
  const RequestItems = { [TableName]: [{ DeleteRequest: { Key: key } }] };
  assert.equal(ok(counter, "BatchWriteItem", { RequestItems }).write, 3);
  assert.equal(ok(counter, "BatchWriteItem", { RequestItems }).write, 1);
});
