/** The items of a ledger (protocol §5, the table). Numbers have fixed width, so that keys sort as numbers do. */
import type { Ack, EpochRow, Unit } from "../../epoch/epoch.ts";
import { LossError } from "../../errors.ts";
import type { EpochId, Head, Wake } from "../../ports/ledger.ts";
import type { ItemReader, Key, Prefix } from "./item-store.ts";

/** A unit, and its place in the order of the decision. */
export interface UnitItem extends Unit {
  readonly position: number;
}

export const headKey: Key<Head> = "HEAD" as Key<Head>;
export const wakeKey: Key<Wake> = "WAKE" as Key<Wake>;

const digits = 12;
const number = (value: number): string => String(value).padStart(digits, "0");
/** Keeps `#` out of the parts that are names. */
const name = (text: string): string => encodeURIComponent(text);

export const epochKey = (epoch: number): Key<EpochRow> => `EPOCH#${number(epoch)}` as Key<EpochRow>;
const epochKeyLength = epochKey(0).length;
export const isEpochKey = (key: string): boolean => key.length === epochKeyLength;

/** Of the epoch that an item is part of. */
export const epochKeyIn = (key: string): Key<EpochRow> => key.slice(0, epochKeyLength) as Key<EpochRow>;

/** Acks and units of all attempts of an epoch. */
export const detailsPrefix = (epoch: number): string => `${epochKey(epoch)}#`;
/** Acks and units of one attempt. */
export const attemptPrefix = ({ epoch, attempt }: EpochId): string => `${detailsPrefix(epoch)}${number(attempt)}#`;

export const acksPrefix = (id: EpochId, stage?: number): Prefix<Ack> =>
  `${attemptPrefix(id)}ACK#${stage === undefined ? "" : `${number(stage)}#`}` as Prefix<Ack>;
export const ackKey = (id: EpochId, { stage, task }: Pick<Ack, "stage" | "task">): Key<Ack> =>
  `${acksPrefix(id, stage)}${number(task)}` as Key<Ack>;

export const unitsPrefix = (id: EpochId, sink?: string): Prefix<UnitItem> =>
  `${attemptPrefix(id)}UNIT#${sink === undefined ? "" : `${name(sink)}#`}` as Prefix<UnitItem>;
export const unitKey = (id: EpochId, { sink, key }: Pick<Unit, "sink" | "key">): Key<UnitItem> =>
  `${unitsPrefix(id, sink)}${name(key)}` as Key<UnitItem>;

export const isUnitKey = (key: string): key is Key<UnitItem> => key.includes("#UNIT#");

/** HEAD and WAKE are made together, by `open`, and never go: whoever misses one has lost its ledger (I8). */
export function existing<T>(items: ItemReader, key: Key<T>): T {
  return items.get(key) ?? missing(key);
}

/** @throws LossError `ledger-missing` */
export function missing(key: string): never {
  throw new LossError("ledger-missing", `The ledger has no item ${key}`, {
    wayOut:
      "Was it deleted while the pipeline ran? Restore it from a backup, or start anew with an empty state folder and output.",
  });
}
