import assert from "node:assert/strict";
import { DynamoLedger } from "../../shared/adapters/dynamodb/ledger.ts";
import { MemoryObjectStore } from "../../shared/adapters/memory/object-store.ts";
import type { Ledger } from "../../shared/ports/ledger.ts";
import {
  ackOf,
  begin,
  committed,
  decided,
  decisionOf,
  failureOf,
  planned,
  planWrite,
} from "../../shared/testing/ledger/examples.ts";
import { useEmulator } from "../support/emulator/fixture.ts";
import { clientsOf, createTable } from "../support/emulator/services.ts";
import { anEmulator, needing } from "../support/needing.ts";

const { test } = await needing(anEmulator);

const aws = useEmulator({ seed: 1, oneIn: 1_000_000 });

/** A ledger after `prepare`; `between` happens after the verb has read, and before it writes for the first time. */
async function interleaved<T>(
  prepare: (ledger: Ledger) => Promise<unknown>,
  verb: (ledger: Ledger) => Promise<T>,
  between: (ledger: Ledger) => Promise<unknown>,
): Promise<{ outcome: T; ledger: Ledger }> {
  const options = { table: await createTable(aws.clients), pipeline: "p", objects: new MemoryObjectStore() };
  const ledger = new DynamoLedger({ ...options, client: aws.clients.dynamodb });
  await prepare(ledger);
  using slow = clientsOf(aws.emulator.endpoint);
  let isFirst = true;
  slow.dynamodb.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (args) => {
        if (isFirst && /^(TransactWriteItems|PutItem)Command$/.test(commandName)) {
          isFirst = false;
          await between(ledger);
        }
        return await next(args);
      },
    { step: "initialize" },
  );
  const outcome = await verb(new DynamoLedger({ ...options, client: slow.dynamodb }));
  assert.ok(!isFirst, "it wrote");
  return { outcome, ledger };
}

test("plan, when the lease is lost meanwhile: nothing is planned", async () => {
  const plan = (ledger: Ledger) => ledger.plan(planWrite(1));
  const { outcome, ledger } = await interleaved(begin, plan, (other) => other.grant({ owner: 1, run: 1 }));
  assert.deepEqual(outcome, { outcome: "not-owner" });
  assert.equal(await ledger.epoch(1), undefined);
});

test("plan, when the pipeline is paused meanwhile: nothing is planned", async () => {
  const plan = (ledger: Ledger) => ledger.plan(planWrite(1));
  const { outcome, ledger } = await interleaved(begin, plan, (other) => other.setStatus("paused"));
  assert.deepEqual(outcome, { outcome: "changed" });
  assert.equal(await ledger.epoch(1), undefined);
});

test("decide, when its attempt is fenced meanwhile (I3)", async () => {
  const id = { epoch: 1, attempt: 1 };
  const { outcome, ledger } = await interleaved(
    async (made) => {
      await begin(made);
      await made.ack(await planned(made, 1), ackOf("n"));
    },
    async (one) => one.decide(id, { decision: await decisionOf(one, 1, { units: [] }), units: [], ackCount: 1 }),
    (other) => other.fence(id, failureOf()),
  );
  assert.equal(outcome, "fenced");
  assert.equal((await ledger.head())?.decided, 0);
});

test("release, when an epoch is decided meanwhile (I4), or somebody wakes (I7)", async () => {
  const changes: ((other: Ledger) => Promise<unknown>)[] = [
    (other) => decided(other, 1),
    (other) => other.increment(null),
  ];
  for (const change of changes) {
    const { outcome, ledger } = await interleaved(begin, (one) => one.release(1, 0), change);
    assert.equal(outcome, "changed");
    assert.equal((await ledger.wake()).owner, 1);
  }
});

test("stop by an attempt, when another is planned meanwhile (I8)", async () => {
  const { outcome, ledger } = await interleaved(
    async (made) => {
      await begin(made);
      await planned(made, 1);
    },
    (one) => one.stop(failureOf().error, { attempt: { epoch: 1, attempt: 1 } }),
    (other) => planned(other, 1, { seen: 1 }),
  );
  assert.equal(outcome, "changed");
  assert.equal((await ledger.head())?.status, "running");
});

test("stop by a unit, when it is committed meanwhile (I8)", async () => {
  const { outcome } = await interleaved(
    async (made) => {
      await begin(made);
      await decided(made, 1);
    },
    (one) => one.stop(failureOf().error, { unit: { epoch: 1, sink: "out", key: "0" } }),
    (other) => other.commitUnit(1, "out", "0"),
  );
  assert.equal(outcome, "changed");
});

test("commit of a unit, when it is abandoned meanwhile: both know", async () => {
  const { outcome } = await interleaved(
    async (made) => {
      await begin(made);
      await decided(made, 1);
    },
    (one) => one.commitUnit(1, "out", "0"),
    (other) => other.abandonUnit(1, "out", "0"),
  );
  assert.equal(outcome, "abandoned");
});

test("an ack that was first meanwhile is the one that counts", async () => {
  const id = { epoch: 1, attempt: 1 };
  const { outcome } = await interleaved(
    async (made) => {
      await begin(made);
      await planned(made, 1);
    },
    (one) => one.ack(id, ackOf("late")),
    (other) => other.ack(id, ackOf("early")),
  );
  assert.deepEqual(outcome, { outcome: "acknowledged", ack: ackOf("early") });
});

test("an ack that lands after its attempt was fenced counts for nothing, and is trimmed", async () => {
  const id = { epoch: 1, attempt: 1 };
  const { ledger } = await interleaved(
    async (made) => {
      await begin(made);
      await planned(made, 1);
    },
    (one) => one.ack(id, ackOf("late")),
    (other) => other.fence(id, failureOf()),
  );
  const write = { decision: await decisionOf(ledger, 1, { units: [] }), units: [], ackCount: 1 };
  assert.equal(await ledger.decide(id, write), "fenced");
  const next = await planned(ledger, 1, { seen: 1 });
  assert.equal(await ledger.decide(next, write), "incomplete");
  assert.equal(await ledger.trim({ detailsFrom: 1, epochsFrom: 1 }), 1);
  assert.deepEqual(await ledger.acks(id), []);
});

test("pin, when the checkpoint is dropped meanwhile (I5)", async () => {
  const prepare = async (made: Ledger) => {
    await begin(made);
    for (const epoch of [1, 2]) await committed(made, epoch);
  };
  const { outcome } = await interleaved(
    prepare,
    (one) => one.pin(1, "save"),
    (other) => other.drop([1]),
  );
  assert.equal(outcome, "dropped");
});

test("drop, when the checkpoint is pinned meanwhile (I5)", async () => {
  const prepare = async (made: Ledger) => {
    await begin(made);
    for (const epoch of [1, 2]) await committed(made, epoch);
  };
  const { outcome, ledger } = await interleaved(
    prepare,
    (one) => one.drop([1]),
    (other) => other.pin(1, "save"),
  );
  assert.deepEqual(outcome, ["pinned"]);
  const row = await ledger.epoch(1);
  assert.ok(row?.status === "decided" && !row.dropped);
});

test("drop of an epoch that is decided between the reads of HEAD and of its row: it is the last one (I5)", async () => {
  const options = { table: await createTable(aws.clients), pipeline: "p", objects: new MemoryObjectStore() };
  const ledger = new DynamoLedger({ ...options, client: aws.clients.dynamodb });
  await begin(ledger);
  await committed(ledger, 1);
  using slow = clientsOf(aws.emulator.endpoint);
  const isOfHead = ({ input }: { input: object }) => JSON.stringify(input).includes('"HEAD"');
  const headIsRead = Promise.withResolvers<void>();
  slow.dynamodb.middlewareStack.add(
    (next) => async (args) => {
      if (isOfHead(args)) {
        const answer = await next(args);
        await decided(ledger, 2);
        headIsRead.resolve();
        return answer;
      }
      await headIsRead.promise;
      return await next(args);
    },
    { step: "initialize" },
  );
  assert.deepEqual(await new DynamoLedger({ ...options, client: slow.dynamodb }).drop([2]), ["pinned"]);
  const row = await ledger.epoch(2);
  assert.ok(row?.status === "decided" && !row.dropped);
});

/** A ledger that has looked, and another one that was used meanwhile. */
async function outOfDate(prepare: (ledger: Ledger) => Promise<unknown>, look: (ledger: Ledger) => Promise<unknown>) {
  const options = { table: await createTable(aws.clients), pipeline: "p", objects: new MemoryObjectStore() };
  const [late, other] = [1, 2].map(() => new DynamoLedger({ ...options, client: aws.clients.dynamodb }));
  await prepare(other!);
  await look(late!);
  return { late: late!, other: other! };
}

const lookBeforePlan = async (ledger: Ledger) => [
  await ledger.wake(),
  await ledger.head(),
  await ledger.epoch(1),
  await ledger.epoch(2),
];

test("plan, by who has looked too early: the lease was lost, or got; the pipeline paused; another attempt planned (I1)", async () => {
  const lost = await outOfDate(begin, lookBeforePlan);
  await lost.other.grant({ owner: 1, run: 1 });
  assert.deepEqual(await lost.late.plan(planWrite(1)), { outcome: "not-owner" });

  const paused = await outOfDate(begin, lookBeforePlan);
  await paused.other.setStatus("paused");
  assert.deepEqual(await paused.late.plan(planWrite(1)), { outcome: "changed" });

  const replaced = await outOfDate(begin, lookBeforePlan);
  await planned(replaced.other, 1);
  assert.deepEqual(await replaced.late.plan(planWrite(1)), { outcome: "changed" });

  const got = await outOfDate(async (ledger) => {
    await begin(ledger);
    await ledger.release(1, 0);
  }, lookBeforePlan);
  const run = await got.other.grant({ owner: null, run: 1 });
  assert.deepEqual(await got.late.plan({ ...planWrite(1), owner: run! }), { outcome: "planned", attempt: 1 });
});

test("decide, by who has looked too early: the ack came since, or the attempt was fenced (I3)", async () => {
  const id = { epoch: 1, attempt: 1 };
  const look = async (ledger: Ledger) => [await ledger.epoch(1), await ledger.epoch(0), await ledger.acks(id)];
  const one = async (ledger: Ledger) => ({
    ...{ decision: await decisionOf(ledger, 1, { units: [] }), units: [], ackCount: 1 },
  });
  const prepare = async (ledger: Ledger) => {
    await begin(ledger);
    await planned(ledger, 1);
  };
  const early = await outOfDate(prepare, look);
  await early.other.ack(id, ackOf("n"));
  assert.equal(await early.late.decide(id, await one(early.other)), "decided");

  const fenced = await outOfDate(async (ledger) => {
    await prepare(ledger);
    await ledger.ack(id, ackOf("n"));
  }, look);
  const write = await one(fenced.other);
  await fenced.other.fence(id, failureOf());
  assert.equal(await fenced.late.decide(id, write), "fenced");
  assert.equal((await fenced.other.head())?.decided, 0);
});

test("commit, by who has looked too early: the units were prepared then (I4)", async () => {
  const prepare = async (ledger: Ledger) => {
    await begin(ledger);
    await decided(ledger, 1);
  };
  const { late, other } = await outOfDate(prepare, (ledger) => ledger.units(1));
  await other.commitUnit(1, "out", "0");
  assert.equal(await late.commit(1, 1), "committed");
  assert.equal((await other.head())?.committed, 1);
});
