import { murmur2, placeOf } from "./partitioner.ts";

/** A target partition belongs to one lane, whichever task wrote the record: so its records stay in order. */
export function laneOf(topic: string, partition: number, lanes: number): number {
  const name = Buffer.from(`${topic}/${partition}`);
  return placeOf(murmur2(name, 0, name.length), lanes);
}

const prefix = "lane-";

/** Key of a lane's commit units. */
export const laneKey = (lane: number): string => `${prefix}${lane}`;

export const isLaneKey = (key: string): boolean => /^lane-\d+$/.test(key);

/** Transactional id of a lane, and its group (protocol §1, Names): those of another ledger are others, so nobody else can fence it. */
export const laneId = ({
  pipeline,
  uid,
  sink,
  key,
}: {
  pipeline: string;
  uid: string;
  sink: string;
  key: string;
}): string => `epochflow.${pipeline}.${uid}.${sink}.${key.slice(prefix.length)}`;
