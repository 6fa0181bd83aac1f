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
    (other) => other.drop(1),
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
    (one) => one.drop(1),
    (other) => other.pin(1, "save"),
  );
  assert.equal(outcome, "pinned");
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
  assert.equal(await new DynamoLedger({ ...options, client: slow.dynamodb }).drop(2), "pinned");
  const row = await ledger.epoch(2);
  assert.ok(row?.status === "decided" && !row.dropped);
});
