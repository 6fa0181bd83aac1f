import { copyFileSync, existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { openLedger, statePaths } from "../../local/compose.ts";
import type { EpochRow } from "../../shared/epoch/epoch.ts";
import type { Head, Ledger } from "../../shared/ports/ledger.ts";
import { readTree, temporaryFolder } from "./folder.ts";

/** Looks into the ledger of a state folder; undefined before there is one. */
async function inLedger<T>(state: string, look: (ledger: Ledger) => Promise<T>): Promise<T | undefined> {
  if (!existsSync(statePaths(state).ledger)) return undefined;
  const ledger = openLedger(state);
  try {
    return await look(ledger);
  } finally {
    await ledger.close();
  }
}

export const readHead = (state: string): Promise<Head | undefined> => inLedger(state, (ledger) => ledger.head());

export async function readEpochs(state: string): Promise<EpochRow[]> {
  return (await inLedger(state, (ledger) => ledger.epochs({ from: 1, to: Number.MAX_SAFE_INTEGER }))) ?? [];
}

/**
 * Epochs that a process has decided which may be killed, or was. They are looked up in a copy of its ledger, which it is to recover by itself when it starts again. A copy that was
 * taken while the process wrote may be of no use: then 0.
 */
export async function decidedBeside(state: string): Promise<number> {
  const { ledger } = statePaths(state);
  using folder = temporaryFolder();
  try {
    for (const file of [ledger, `${ledger}-wal`])
      if (existsSync(file)) copyFileSync(file, join(folder.path, basename(file)));
    return (await readHead(folder.path))?.decided ?? 0;
  } catch {
    return 0;
  }
}

/** The same, for somebody who asks all the time: it is looked up only when something was written. The last write may be told after the next one. */
export function watchDecided(state: string): () => Promise<number> {
  const { ledger } = statePaths(state);
  const written = (file: string) => {
    const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? {};
    return `${mtimeMs} ${size}`;
  };
  let decided = 0;
  let known = "";
  return async () => {
    const now = written(ledger) + written(`${ledger}-wal`);
    if (now !== known || decided === 0) decided = await decidedBeside(state);
    known = now;
    return decided;
  };
}

const ownerMark = join(".epochflow", "owner.json");
const stagingFolder = join(".epochflow", "staging");

/** What a files sink has published, manifests included: the owner mark, which names the ledger, and what is staged apart. */
export function readOutput(folder: string): Map<string, Buffer> {
  const files = [...readTree(folder)].filter(([name]) => name !== ownerMark && !name.startsWith(stagingFolder));
  return new Map(files);
}

/**
 * What is there and should not be, or the other way round, after the collector had its way: objects that no retained checkpoint names, named objects
 * that are gone (I5), staged files.
 */
export async function leftovers(state: string, outputs: readonly string[]): Promise<string[]> {
  const rows = await readEpochs(state);
  const retained = rows.flatMap((row) =>
    row.status === "decided" && !row.dropped
      ? Object.values(row.decision.checkpoint.stages).flatMap((runs) => runs.flatMap((run) => run.objects))
      : [],
  );
  const named = new Set(retained);
  const { objects } = statePaths(state);
  const stored = existsSync(objects) ? [...readTree(objects).keys()] : [];
  const staged = outputs.flatMap((output) =>
    [...readTree(output).keys()].filter((name) => name.startsWith(stagingFolder)),
  );
  return [
    ...stored.filter((name) => !named.has(name)).map((name) => `object ${name} is nobody's`),
    ...[...named].filter((name) => !stored.includes(name)).map((name) => `object ${name} is gone (I5)`),
    ...staged.map((name) => `${name} is still staged`),
  ];
}
