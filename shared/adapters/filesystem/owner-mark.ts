import { readFile } from "node:fs/promises";
import { type SinkOwner, sealPrefix } from "../output/names.ts";
import { checkOwner, ownerText, parseOwner } from "../output/owner.ts";
import { createWhole, unlessMissing } from "./durable.ts";
import type { OutputLayout } from "./output-layout.ts";

/**
 * Takes possession of an output folder for a sink of a ledger, or finds that it has it already. Epoch numbers mean something to one ledger only:
 * two of them in one folder would take each other's files for their own.
 *
 * @throws LossError `output-belongs-to-another`, `owner-mark-damaged`
 */
export async function claimOutput(layout: OutputLayout, own: SinkOwner): Promise<void> {
  checkOwner((await readOwner(layout)) ?? (await mark(layout, own)), own, layout.root);
}

/** Of two that mark at the same time one wins, and the other reads who. */
async function mark(layout: OutputLayout, own: SinkOwner): Promise<SinkOwner> {
  const temporary = { folder: layout.staging, prefix: sealPrefix(own, 0) };
  await createWhole(layout.ownerMark, ownerText(own), temporary);
  return (await readOwner(layout)) ?? own;
}

export async function readOwner({ ownerMark }: OutputLayout): Promise<SinkOwner | undefined> {
  const text = await unlessMissing(readFile(ownerMark, "utf8"));
  return text === undefined ? undefined : parseOwner(text, ownerMark);
}
