import type { KnownPartition, PartitionStatus } from "../../ports/source.ts";
import type { FileNames } from "../lines/file-names.ts";
import { splitFinished } from "../lines/finished.ts";
import { replaced, vanished } from "../lines/input-errors.ts";
import { partitionId } from "../lines/partition-id.ts";
import type { Bucket, FoundObject } from "./bucket.ts";
import { Finished } from "./finished.ts";
import { identityOf, type ObjectIdentity, sizeOf } from "./input-object.ts";
import type { NewObjects } from "./new-objects.ts";

export interface DiscoveryParts {
  readonly bucket: Bucket;
  readonly prefix: string;
  readonly names: FileNames;
  readonly newObjects: NewObjects;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Which objects there are, and what they are to the ledger's partitions. */
export class Discovery {
  readonly #parts: DiscoveryParts;

  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
  }

  /** @throws LossError if there is more to read of a known object, and it is not there (I8) */
  async look(all: readonly KnownPartition[]): Promise<PartitionStatus[]> {
    const { known, finished: before } = splitFinished(all);
    const finished = new Finished(before);
    const found = await this.#list();
    const partitions = known.map((one) => this.#known(one, found));
    const old = [...found.values()].filter((object) => finished.has(object));
    for (const { key } of old) found.delete(key);
    const done = partitions.filter(({ isOver }) => isOver).map(identityOf);
    const record = finished.status(old, done, this.#parts.now());
    return [...(await this.#lookAt(partitions, known, [...found.values()])), ...(record ? [record] : [])];
  }

  async #list(): Promise<Map<string, FoundObject>> {
    const { bucket, prefix, names } = this.#parts;
    const found = new Map<string, FoundObject>();
    for await (const object of bucket.list(prefix))
      if (object.bytes > 0 && names.isInput(this.#nameOf(object.key))) found.set(object.key, object);
    return found;
  }

  /** A partition of the ledger, whose object is taken out of those found. @throws LossError if there is more to read of it, and it is not there (I8) */
  #known({ id, identity: json, position }: KnownPartition, found: Map<string, FoundObject>): PartitionStatus {
    const identity = identityOf({ id, identity: json });
    const object = found.get(identity.key);
    const isSame = object?.etag === identity.etag;
    if (isSame) found.delete(identity.key);
    const size = sizeOf(identity);
    const isDone = identity.unread === undefined && position >= size;
    if (isDone) return { id, identity, start: 0, end: position, high: position, isOver: true };
    if (isSame) return { id, identity, start: 0, end: identity.unread ? position : size, high: size };
    const url = this.#parts.bucket.urlOf(identity.key);
    throw object === undefined ? vanished(url, position) : replaced(url, position);
  }

  /** New objects, and those of the known ones whose turn has not come before. */
  async #lookAt(partitions: PartitionStatus[], known: readonly KnownPartition[], objects: readonly FoundObject[]) {
    const taken = new Set(known.map(({ id }) => id));
    const waiting = partitions.filter((one) => identityOf(one).unread);
    const fresh = objects.map((object) => {
      const id = partitionId(this.#nameOf(object.key), taken);
      taken.add(id);
      return { id, identity: object as ObjectIdentity };
    });
    const all = [...waiting.map((one) => ({ id: one.id, identity: identityOf(one) })), ...fresh];
    const looked = await this.#parts.newObjects.look(
      all.map(({ identity }) => identity),
      known.map((one, index) => (identityOf(one).packed ? partitions[index]!.end - one.position : 0)),
    );
    const statuses = all.flatMap(({ id }, index) => (looked[index] ? [newStatus(id, looked[index])] : []));
    const renewed = new Set(statuses.map(({ id }) => id));
    return [...partitions.filter(({ id }) => !renewed.has(id)), ...statuses];
  }

  #nameOf(key: string): string {
    return key.slice(this.#parts.prefix.length).replace(/^\/+/, "") || key;
  }
}

function newStatus(id: string, identity: ObjectIdentity): PartitionStatus {
  const size = sizeOf(identity);
  return { id, identity, start: 0, end: identity.unread ? 0 : size, high: size };
}
