import { randomUUID } from "node:crypto";
import type { SinkOwner } from "../output/names.ts";
import { checkOwner, ownerText, parseOwner } from "../output/owner.ts";
import type { OutputPlace } from "./output-place.ts";

/**
 * Takes possession of an output for a sink of a ledger, or finds that it has it already. Of two that mark at the same time one wins, and the other
 * reads who.
 *
 * @throws LossError `output-belongs-to-another`, `owner-mark-damaged`
 */
export async function claimOutput(place: OutputPlace, own: SinkOwner): Promise<void> {
  const owner = (await readOwner(place)) ?? (await mark(place, own));
  checkOwner(owner, own, place.url);
}

export async function isOwner(place: OutputPlace, { pipeline, uid, sink }: SinkOwner): Promise<boolean> {
  const owner = await readOwner(place);
  return owner?.pipeline === pipeline && owner.uid === uid && owner.sink === sink;
}

async function mark(place: OutputPlace, own: SinkOwner): Promise<SinkOwner> {
  await place.bucket.create(place.ownerMark, Buffer.from(ownerText(own)), { "epochflow-put": randomUUID() });
  return (await readOwner(place)) ?? own;
}

export async function readOwner(place: OutputPlace): Promise<SinkOwner | undefined> {
  const text = await place.textOf(place.ownerMark);
  return text === undefined ? undefined : parseOwner(text, place.bucket.urlOf(place.ownerMark));
}
