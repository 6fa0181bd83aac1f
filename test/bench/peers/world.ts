import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { KafkaBroker } from "../../support/kafka/broker.ts";
import type { Oracle } from "../../support/kafka/oracle.ts";
import type { Place } from "./engines.ts";

/** Where engines run. */
export interface World {
  readonly broker: KafkaBroker;
  readonly oracle: Oracle;
  /** It goes with the end of the benchmark, unless `keep` is called. */
  readonly folder: string;
  /** There is something to look at in the folder. */
  keep(): void;
}

export const partitions = 4;

/** A folder of its own for a run, and its output topic. @param input the topic that it reads; by default a new one of its own */
export async function newPlace({ broker, oracle, folder }: World, name: string, input?: string): Promise<Place> {
  const place = {
    bootstrap: broker.bootstrap,
    input: input ?? `in-${name}`,
    output: `out-${name}`,
    work: join(folder, name),
  };
  mkdirSync(place.work);
  if (input === undefined) await oracle.createTopic(place.input, partitions);
  await oracle.createTopic(place.output, partitions);
  return place;
}
