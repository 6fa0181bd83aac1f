/** Request units as they are computed here, and as the emulator tells them, which follows what was measured on AWS. */
import assert from "node:assert/strict";
import {
  BatchWriteItemCommand,
  type ConsumedCapacity,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { type Emulator, startEmulator } from "../../support/emulator/emulator.ts";
import { type Clients, clientsOf, createBucket, createTable } from "../../support/emulator/services.ts";
import { anEmulator, needing } from "../../support/needing.ts";
import { MeteringProxy } from "./metering-proxy.ts";
import { sum } from "./usage.ts";

const { after, before, test } = await needing(anEmulator);

let emulator: Emulator;
let direct: Clients;
let proxy: MeteringProxy;
let clients: Clients;
before(async () => {
  emulator = await startEmulator();
  direct = clientsOf(emulator.endpoint);
  proxy = await MeteringProxy.start(emulator.endpoint);
  clients = clientsOf(proxy.endpoint);
});
after(async () => {
  clients.close();
  await proxy[Symbol.asyncDispose]();
  direct.close();
  await emulator.stop();
});

const told = { ReturnConsumedCapacity: "TOTAL" } as const;
const keyOf = (sk: string) => ({ pk: { S: "pipeline" }, sk: { S: sk } });
const itemOf = (sk: string, length: number) => ({
  ...keyOf(sk),
  text: { S: "x".repeat(length) },
  number: { N: "-12.50" },
});

/** One of each kind that the ledger makes. */
function requestsTo(TableName: string) {
  const { dynamodb } = clients;
  const place = (sk: string) => ({ TableName, Key: keyOf(sk) });
  const put = (sk: string, length: number) =>
    dynamodb.send(new PutItemCommand({ TableName, Item: itemOf(sk, length), ...told }));
  const get = (sk: string, ConsistentRead: boolean) =>
    dynamodb.send(new GetItemCommand({ ...place(sk), ConsistentRead, ...told }));
  const isThere = { ConditionExpression: "attribute_exists(pk)" };
  return [
    () => put("a", 100),
    () => put("b", 5000),
    () => put("b", 900),
    () => put("b", 1100),
    () => get("b", true),
    () => get("b", false),
    () => get("none", true),
    () =>
      dynamodb.send(
        new QueryCommand({
          ...{ TableName, ConsistentRead: true, ...told },
          KeyConditionExpression: "pk = :pk",
          ExpressionAttributeValues: { ":pk": { S: "pipeline" } },
        }),
      ),
    () => dynamodb.send(new TransactGetItemsCommand({ TransactItems: [{ Get: place("b") }], ...told })),
    () =>
      dynamodb.send(
        new TransactWriteItemsCommand({
          TransactItems: [
            { Put: { TableName, Item: itemOf("c", 1500) } },
            { ConditionCheck: { ...place("b"), ...isThere } },
          ],
          ...told,
        }),
      ),
    () =>
      dynamodb.send(
        new BatchWriteItemCommand({
          RequestItems: { [TableName]: ["b", "c"].map((sk) => ({ DeleteRequest: { Key: keyOf(sk) } })) },
          ...told,
        }),
      ),
  ];
}

test("requests to a table are charged for as many units as the emulator says", async () => {
  const requests = requestsTo(await createTable(direct));
  for (const request of requests) {
    const before = proxy.charges.length;
    const { ConsumedCapacity } = await request();
    const consumed = [ConsumedCapacity ?? []].flat() as ConsumedCapacity[];
    const units = consumed.reduce((total, { CapacityUnits = 0 }) => total + CapacityUnits, 0);
    const { readUnits, writeUnits } = sum(proxy.charges.slice(before).map(({ usage }) => usage));
    assert.equal(readUnits + writeUnits, units, proxy.charges.at(-1)!.what);
  }
  const what = "DynamoDB TransactWriteItems of c, check b";
  assert.deepEqual(
    proxy.charges.filter((charge) => charge.what === what).map(({ usage }) => usage),
    [{ readUnits: 0, writeUnits: 2 * 2 + 2 * 2 }],
  );
});

test("requests to a bucket are charged for by their class, and named by what they are about", async () => {
  const place = { Bucket: await createBucket(direct), Key: "p/u/000000000001-1-0-0-n.snapshot" };
  const before = proxy.charges.length;
  await clients.s3.send(new PutObjectCommand({ ...place, Body: "text" }));
  await clients.s3.send(new GetObjectCommand(place));
  const charged = proxy.charges.slice(before).map(({ what, usage }) => [what, usage]);
  assert.deepEqual(charged, [
    ["S3 PUT snapshot", { s3Puts: 1, s3Gets: 0 }],
    ["S3 GET snapshot", { s3Puts: 0, s3Gets: 1 }],
  ]);
  assert.equal(proxy.written.at(-1)?.bytes, 4);
});
