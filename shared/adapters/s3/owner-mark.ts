import { randomUUID } from "node:crypto";
import type { SinkOwner } from "../output/names.ts";
import { checkOwner, ownerText, parseOwner } from "../output/owner.ts";
import { type OutputPlace, ownerMarkName } from "./output-place.ts";

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

/** Outputs below an output, which have owner marks of their own: a listing of the one finds what is in the others, too. */
export class ForeignOutputs {
  readonly #place: OutputPlace;
  readonly #known = new Map<string, boolean>();

  constructor(place: OutputPlace) {
    this.#place = place;
  }

  /** Whether the object belongs to one of them. */
  async has(key: string): Promise<boolean> {
    const { prefix } = this.#place;
    for (let end = key.indexOf("/", prefix.length); end > 0; end = key.indexOf("/", end + 1))
      if (await this.#isOutput(key.slice(0, end + 1))) return true;
    return false;
  }

  async #isOutput(folder: string): Promise<boolean> {
    const known = this.#known.get(folder);
    const found = known ?? (await this.#place.bucket.head(folder + ownerMarkName)) !== undefined;
    this.#known.set(folder, found);
    return found;
  }
}

async function mark(place: OutputPlace, own: SinkOwner): Promise<SinkOwner> {
  await place.bucket.create(place.ownerMark, Buffer.from(ownerText(own)), { "epochflow-put": randomUUID() });
  return (await readOwner(place)) ?? own;
}

export async function readOwner(place: OutputPlace): Promise<SinkOwner | undefined> {
  const text = await place.textOf(place.ownerMark);
  return text === undefined ? undefined : parseOwner(text, place.bucket.urlOf(place.ownerMark));
}
