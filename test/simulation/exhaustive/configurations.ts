import type { Topology } from "../../../shared/pipeline/topology.ts";
import type { FaultKind } from "../../../shared/testing/simulation/faults.ts";
import type { Setup } from "../../../shared/testing/simulation/world.ts";
import { coordinations, epochs } from "../../model/configurations.ts";
import type { Bounds } from "../../model/coordination.ts";
import type { Setup as EpochSetup } from "../../model/epoch.ts";
import { epochTopology, windowTopology } from "./topologies.ts";

/** What a person does once, at any moment. */
export type Deed = "pause" | "restore" | "abandon" | "sweep" | "week";

/** A configuration of the model, as a world for the real code. */
export interface Configuration {
  readonly name: string;
  readonly topology: Topology;
  readonly setup: Setup;
  /** Values of records, and whether they come one by one, at any moment. */
  readonly values: readonly string[];
  readonly oneByOne: boolean;
  /** In a transaction that ends at any moment. */
  readonly inTransactions: boolean;
  /** What may go wrong, and on which occasions. */
  readonly faults: Readonly<Partial<Record<FaultKind, RegExp>>>;
  readonly deeds: readonly Deed[];
}

const any = /./;
const policy: Setup["policy"] = {
  ...{
    bounded: false,
    hold: false,
    adaptive: false,
    records: 1,
    eventBudget: 20_000,
    attempts: 3,
    backOffMs: 100,
    fused: false,
  },
};
const values = (count: number, silent: readonly number[] = []): string[] =>
  Array.from({ length: count }, (_, index) => `${index + 1}${silent.includes(index) ? " silent" : ""}`);

function ofCoordination(name: string, bounds: Partial<Bounds>): Configuration {
  const { data = 1, crashes, retries, repeats, startFailures, handOvers, stops, commitFailures } = bounds;
  return {
    name,
    topology: bounds.idleWindow ? windowTopology : epochTopology(["rows"]),
    setup: { lanes: [], tasks: [1, 1], policy: { ...policy, eventBudget: handOvers ? 250 : 20_000 } },
    values: values(data),
    oneByOne: true,
    inTransactions: bounds.openTransactions === true,
    faults: {
      ...(crashes && { "execution dies": any, "crash before a call": any }),
      ...(retries && { "crash before a call": crashes ? any : /^Plan/ }),
      ...(repeats && { "event comes twice": any }),
      ...(startFailures && {
        unreachable: /executions.start/,
        "answer lost": /executions.start/,
        "start answers as if it were the first": any,
      }),
      ...(commitFailures && { unreachable: / files\.(publish|remove|seal)/ }),
      ...(bounds.describeLag && { "execution described as running": any }),
    },
    deeds: stops ? ["pause"] : [],
  };
}

function ofEpochs(name: string, setup: Partial<EpochSetup>): Configuration {
  const { records = 2, step = 1, tasks = 1, silent = [], lane, crashes, duplicates, lostAnswers, failures } = setup;
  const isWritten =
    / (ledger\.(plan|ack|decide|fence|commit|commitUnit|restore|abandonUnit|stop)|kafka\.end|files\.publish)$/;
  return {
    name,
    topology: epochTopology([...(setup.files || !lane ? ["rows"] : []), ...(lane ? ["lane"] : [])]),
    setup: { lanes: lane ? ["lane"] : [], tasks: [tasks, tasks], policy: { ...policy, records: step } },
    values: values(records, silent),
    oneByOne: false,
    inTransactions: false,
    faults: {
      ...(crashes && { "execution dies": any, "crash before a call": any }),
      ...(duplicates && { "invocation doubled at once": any }),
      ...(lostAnswers && { "answer lost": isWritten, "failed call takes effect later": isWritten }),
      ...(failures && { "invocation times out, and goes on": /^(Fused|Operate|Decide)/ }),
      ...(setup.transactionTimeouts && { "transaction times out": any }),
    },
    deeds: [
      ...(setup.sweeps ? ["sweep" as const] : []),
      ...(setup.restores ? ["restore" as const] : []),
      ...(setup.abandons ? ["abandon" as const] : []),
      ...(setup.weeks ? ["week" as const] : []),
    ],
  };
}

/** What the simulator's world does not have, and the model does. */
const missing = (setup: Partial<EpochSetup>): boolean => Boolean(setup.losses || setup.backups);

const apart: readonly Configuration[] = [
  ...Object.entries(coordinations).map(([name, bounds]) => ofCoordination(name, bounds)),
  ...Object.entries(epochs).flatMap(([name, setup]) => (missing(setup) ? [] : [ofEpochs(name, setup)])),
];

/** The model knows no function that does several epochs: it is the same verbs in the same order. These show that it is. */
const alsoFused = [
  "B files, crash, zombie",
  "B files, duplicate, failure, zombie",
  "B lane, crash, zombie, transaction time-out",
  "B both sinks, overlap, zombie",
  "B restore, both sinks, zombie",
];

function fused({ setup, ...others }: Configuration): Configuration {
  return { ...others, name: `${others.name}, fused`, setup: { ...setup, policy: { ...setup.policy, fused: true } } };
}

export const configurations: readonly Configuration[] = [
  ...apart,
  ...apart.filter(({ name }) => alsoFused.includes(name)).map(fused),
];
