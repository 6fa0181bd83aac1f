import type { Engine } from "./engine.ts";
import type { EpochRow } from "./epoch.ts";
import { objectPrefix, parseObjectKey } from "./names.ts";

export interface Retention {
  /** Last checkpoints to keep, at least 1. */
  readonly checkpoints: number;
  /** Last epochs whose acks, units and rows are kept for people to look at. */
  readonly history: number;
}

/**
 * The collector (protocol §8): the only one that deletes objects. It reads HEAD first and lists afterwards, so what it does not know yet is
 * above what it may delete: names of committed epochs that no retained checkpoint names, and of attempts below the current one (I5).
 * Every sweep covers all old epochs: what a zombie writes later is found by the next.
 */
export async function collect(
  engine: Engine,
  retention: Retention,
): Promise<{ objects: number; staged: number; rows: number }> {
  const { ledger, objects, topology, uid } = engine;
  const head = await ledger.head();
  if (!head) return { objects: 0, staged: 0, rows: 0 };
  const known = await ledger.epochs({ from: 1, to: head.decided + 1 });
  const attempts = new Map(known.map((row) => [row.epoch, row.attempt]));
  await dropOld(engine, known, head.committed - retention.checkpoints);
  const first = known.find((row) => row.status !== "decided" || !row.dropped)?.epoch ?? 1;
  const retained = retainedObjects(await ledger.epochs({ from: first, to: Number.MAX_SAFE_INTEGER }));

  const isOld = ({ epoch, attempt }: { epoch: number; attempt: number }) =>
    epoch <= head.committed || attempt < (attempts.get(epoch) ?? 0);
  const garbage: string[] = [];
  for await (const key of objects.list(objectPrefix(topology.name, uid))) {
    const name = parseObjectKey(key);
    if (name && isOld(name) && !retained.has(key)) garbage.push(key);
  }
  await objects.delete(garbage);
  let staged = 0;
  for (const sink of Object.keys(topology.sinks))
    staged += (await engine.sink(sink).sweep?.({ pipeline: topology.name, uid, sink }, isOld)) ?? 0;
  const from = Math.max(1, head.committed - retention.history + 1);
  const rows = await ledger.trim({ detailsFrom: from, epochsFrom: from });
  staged += await tidy(engine);
  return { objects: garbage.length, staged, rows };
}

/** Last, since it may take long. The time first: what a sink has done long before it, it did before HEAD was as it is read now. */
async function tidy(engine: Engine): Promise<number> {
  const { ledger, topology, uid, clock } = engine;
  const able = Object.keys(topology.sinks).filter((id) => engine.sink(id).tidy !== undefined);
  if (able.length === 0) return 0;
  const now = clock.now();
  const committed = (await ledger.head())?.committed ?? 0;
  let files = 0;
  for (const sink of able)
    files += (await engine.sink(sink).tidy?.({ pipeline: topology.name, uid, sink }, { committed, now })) ?? 0;
  return files;
}

/** Marks checkpoints up to `last` as not retained; a pin that is there first wins. */
async function dropOld(engine: Engine, rows: readonly EpochRow[], last: number): Promise<void> {
  const old = rows.filter(
    (row) => row.status === "decided" && row.epoch <= last && !row.dropped && row.pins.length === 0,
  );
  if (old.length > 0) await engine.ledger.drop(old.map(({ epoch }) => epoch));
}

/**
 * Everything that a checkpoint names which is not dropped. Read after the drops, from the first that was not dropped before on: one that was pinned meanwhile is still there. And without an upper end: to
 * a collector that was held up, all that it knew may be dropped by now, while newer checkpoints go on naming the objects of those.
 */
function retainedObjects(rows: readonly EpochRow[]): Set<string> {
  const names = new Set<string>();
  for (const row of rows) {
    if (row.status !== "decided" || row.dropped) continue;
    for (const runs of Object.values(row.decision.checkpoint.stages))
      for (const run of runs) for (const object of run.objects) names.add(object);
  }
  return names;
}
