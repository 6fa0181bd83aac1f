import assert from "node:assert/strict";
import { DynamoLedger } from "../../shared/adapters/dynamodb/ledger.ts";
import { MemoryObjectStore } from "../../shared/adapters/memory/object-store.ts";
import { ackOf, begin, committed, decisionOf, planned, planOf, unitOf } from "../../shared/testing/ledger/examples.ts";
import { ledgerConformance } from "../../shared/testing/ledger-conformance.ts";
import { operationOf } from "../support/emulator/aws-answers.ts";
import { useEmulator } from "../support/emulator/fixture.ts";
import { type Clients, createTable } from "../support/emulator/services.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { suite, test } = await needing(anEmulator);

const aws = useEmulator({ seed: 1, oneIn: 60 });

async function ledgers(clients: Clients) {
  const table = await createTable(aws.clients);
  const objects = new MemoryObjectStore();
  const open = () => new DynamoLedger({ client: clients.dynamodb, table, pipeline: "example", objects });
  return { table, objects, open };
}

for (const [name, clients, lives] of [
  ["DynamoDB", () => aws.clients, 1],
  ["DynamoDB, with faults", () => aws.faulty, 0],
] as const)
  suite(name, () =>
    ledgerConformance(
      name,
      async () => {
        const { open } = await ledgers(clients());
        return { ledger: open(), another: async () => open(), dispose: async () => {} };
      },
      { lives, lifeLength: 120, raceRounds: 4 },
    ),
  );

test("there were faults", () => assert.ok(aws.proxy.count >= 10, `${aws.proxy.count}`));

test("what is too long for a row lies in an object, and goes with the row", async () => {
  const { open, objects } = await ledgers(aws.clients);
  const ledger = open();
  await begin(ledger);
  const random = Array.from({ length: 400 }, (_, n) => `p-${n}-${Math.sin(n + 1)}`);
  const partition = planOf(1).partitions[0]!;
  const plan = { ...planOf(1), partitions: random.map((id) => ({ ...partition, id })) };
  const id = await planned(ledger, 1, { plan });
  assert.deepEqual((await open().epoch(1))?.plan, plan);
  const ack = ackOf("long", { prepared: random.map((text) => ({ stage: 0, sink: "out", handle: { text } })) });
  await ledger.ack(id, ack);
  assert.deepEqual(await open().acks(id), [ack]);

  const units = random.slice(0, 150).map((text) => unitOf(text));
  const state = plan.partitions.map((one) => ({ id: one.id, identity: one.identity, position: one.to }));
  const decision = {
    ...(await decisionOf(ledger, 1, { units })),
    partitions: state.map((one) => ({ ...one, maxEventTime: 1, activeAt: 1 })),
  };
  assert.equal(await ledger.decide(id, { decision, units, ackCount: 1 }), "decided");
  assert.deepEqual(
    await open().units(1),
    units.map((unit) => ({ ...unit, status: "prepared" })),
  );
  const before = objects.objects.size;
  await ledger.pin(1, "save");
  assert.equal(objects.objects.size, before, "a change of the row writes no object again");
  for (const key of random.slice(0, 30)) await ledger.commitUnit(1, "out", key);
  assert.equal(await ledger.commit(1, 1), "incomplete");
  const left = (await open().units(1)).filter(({ status }) => status === "prepared");
  assert.equal(left.length, units.length - 30);
  for (let at = 0; at < left.length; at += 40)
    await Promise.all(left.slice(at, at + 40).map(({ key }) => ledger.commitUnit(1, "out", key)));
  assert.equal(await ledger.commit(1, 1), "committed");

  const row = await open().epoch(1);
  assert.deepEqual(row?.status === "decided" && row.decision, decision);
  await ledger.trim({ detailsFrom: 2, epochsFrom: 1 });
  assert.deepEqual(await open().units(1), []);
  assert.equal(objects.objects.size, 2, "plan and decision of the checkpoint");
  assert.deepEqual((await open().epoch(1))?.plan, plan);
});

test("an object that is missing or changed is a loss", async () => {
  const { open, objects } = await ledgers(aws.clients);
  await begin(open());
  const partitions = Array.from({ length: 500 }, (_, n) => ({ ...planOf(1).partitions[0]!, id: `${Math.sin(n)}` }));
  await planned(open(), 1, { plan: { ...planOf(1), partitions } });
  const [key] = [...objects.objects.keys()];
  const bytes = objects.objects.get(key!)!;
  objects.objects.set(key!, bytes.slice(0, -1));
  await assert.rejects(open().epoch(1), { kind: "loss", code: "ledger-object-damaged" });
  objects.objects.delete(key!);
  await assert.rejects(open().epoch(1), { kind: "loss", code: "ledger-object-missing" });
});

for (const fault of ["late reset", "late silent", "conflict", "throttled"] as const)
  test(`a transaction happens once: ${fault}`, async () => {
    const { open } = await ledgers(aws.faulty);
    const ledger = open();
    await begin(ledger);
    aws.proxy.inject(fault, (request) => operationOf(request) === "TransactWriteItems", 2);
    assert.equal((await ledger.increment(null)).sequence, 1);
    assert.equal((await open().wake()).sequence, 1);
  });

test("an epoch costs few requests", async () => {
  const { open } = await ledgers(aws.clients);
  const ledger = open();
  await begin(ledger);
  await committed(ledger, 1);
  const counts = new Map<string, number>();
  aws.clients.dynamodb.middlewareStack.add(
    (next, { commandName = "" }) =>
      (args) => {
        counts.set(commandName, (counts.get(commandName) ?? 0) + 1);
        return next(args);
      },
    { step: "initialize", name: "count" },
  );
  /** What a step asks for, which looks before it writes. */
  const requestsOf = async (look: () => Promise<unknown>, write: () => Promise<unknown>) => {
    await look();
    counts.clear();
    await write();
    return Object.fromEntries(counts);
  };
  const one = { TransactWriteItemsCommand: 1 };
  const id = { epoch: 2, attempt: 1 };
  const rows = async () => await Promise.all([ledger.epoch(1), ledger.epoch(2)]);
  assert.deepEqual(
    await requestsOf(
      async () => [await ledger.wake(), await ledger.head(), await rows()],
      async () => await planned(ledger, 2),
    ),
    one,
  );
  await ledger.ack(id, ackOf("n"));
  const decision = await decisionOf(ledger, 2);
  assert.deepEqual(
    await requestsOf(
      async () => [await rows(), await ledger.acks(id)],
      async () => await ledger.decide(id, { decision, units: [unitOf("0")], ackCount: 1 }),
    ),
    { GetItemCommand: 1, ...one },
  );
  const committing = async () => await ledger.commitUnit(2, "out", "0");
  assert.equal((await requestsOf(async () => {}, committing)).PutItemCommand, 1);
  assert.deepEqual(
    await requestsOf(
      async () => await ledger.units(2),
      async () => assert.equal(await ledger.commit(2, 1), "committed"),
    ),
    { GetItemCommand: 1, ...one },
  );
  aws.clients.dynamodb.middlewareStack.remove("count");
});

test("a table that is not there is named, with what to do", async () => {
  const options = { client: aws.clients.dynamodb, table: "none", pipeline: "p", objects: new MemoryObjectStore() };
  await assert.rejects(new DynamoLedger(options).head(), { code: "resource-missing", message: /table none/ });
});
