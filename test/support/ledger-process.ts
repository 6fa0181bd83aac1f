// A whole execution on a ledger that others use at the same moment: node ledger-process.ts FILE SEED EPOCHS
// Writes "i" for each increment that it knows to be made, and "d<epoch> " for each epoch that it knows to have decided itself.
import { writeSync } from "node:fs";
import { SeededRandom } from "../../shared/adapters/memory/random.ts";
import { SqliteLedger } from "../../shared/adapters/sqlite/ledger.ts";
import {
  ackOf,
  attemptPlan,
  decisionOf,
  failureOf,
  first,
  planOf,
  unitOf,
} from "../../shared/testing/ledger/examples.ts";

const [, , file = "", seed = "", epochs = ""] = process.argv;
const random = new SeededRandom(Number(seed));
const ledger = new SqliteLedger(file);
let run = 0;

await ledger.open(first);
for (;;) {
  const head = (await ledger.head())!;
  if (head.committed >= Number(epochs)) break;
  await ledger.increment(null);
  writeSync(1, "i");
  // Anybody may think that the owner is dead: each grant makes a zombie of it.
  if (random.below(8) === 0 || run === 0) run = (await ledger.grant(await ledger.wake())) ?? run;
  if (random.below(50) === 0) run = (await ledger.handOver(run)) ?? run;
  if (head.committed < head.decided) await commit(head.committed + 1);
  else await process_(head.decided + 1);
}
await ledger.close();

async function process_(epoch: number): Promise<void> {
  const row = await ledger.epoch(epoch);
  const plan = row?.plan ?? planOf(epoch);
  const planned = await ledger.plan({
    epoch,
    seen: row?.attempt ?? null,
    owner: run,
    plan,
    attemptPlan,
    events: 1,
    now: 1,
  });
  if (planned.outcome !== "planned") return;
  const id = { epoch, attempt: planned.attempt };
  await ledger.ack(id, ackOf(random.nonce()));
  if (random.below(6) === 0) await ledger.fence(id, failureOf());
  const units = [unitOf("0"), unitOf("1")];
  const decision = await decisionOf(ledger, epoch, { units, token: `${process.pid}-${random.nonce()}` });
  if ((await ledger.decide(id, { decision, units, ackCount: 1 })) === "decided") writeSync(1, `d${epoch} `);
}

async function commit(epoch: number): Promise<void> {
  for (const { sink, key } of await ledger.units(epoch)) await ledger.commitUnit(epoch, sink, key);
  await ledger.commit(epoch, 1);
  if (epoch % 20 === 0) await ledger.trim({ detailsFrom: epoch - 10, epochsFrom: 0 });
}
