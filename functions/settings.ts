import type { Policy } from "../shared/epoch/policy.ts";
import { InfrastructureError, UsageError } from "../shared/errors.ts";
import { checkOptions } from "../shared/options.ts";
import type { KafkaAccessSettings } from "./kafka-access.ts";

/** Environment variables of the functions, all of which the construct sets. */
export const variables = {
  table: "EPOCHFLOW_TABLE",
  bucket: "EPOCHFLOW_BUCKET",
  /** The pipeline's name, which need not be the one in its module. */
  pipeline: "EPOCHFLOW_PIPELINE",
  parameters: "EPOCHFLOW_PARAMETERS",
  policy: "EPOCHFLOW_POLICY",
  /** KafkaAccessSettings; of the functions that talk to brokers. */
  kafka: "EPOCHFLOW_KAFKA",
  /** Of `trigger` alone. */
  stateMachine: "EPOCHFLOW_STATE_MACHINE_ARN",
} as const;

const knobs = ["intervalMs", "paceMs", "parallelism", "attempts", "records", "fused", "eventBudget"] as const;

/** What a deployment may choose of `Plan`'s knobs. */
export type PolicySettings = Partial<Pick<Policy, (typeof knobs)[number]>>;

export interface Settings {
  readonly table: string;
  readonly bucket: string;
  /** In place of the name in its module. */
  readonly pipeline: string | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  readonly policy: Policy;
  /** Absent where nothing talks to brokers. */
  readonly kafka: KafkaAccessSettings | undefined;
  /** @throws InfrastructureError `missing-setting` in a function that starts no executions */
  stateMachineArn(): string;
}

/** @throws InfrastructureError `missing-setting` */
export function settingsOf(environment: NodeJS.ProcessEnv): Settings {
  const needed = (name: string) => {
    const value = environment[name];
    if (value) return value;
    throw new InfrastructureError("missing-setting", `The environment variable ${name} is not set`, {
      wayOut: "StreamPipeline sets it: deploy the stack again.",
    });
  };
  return {
    table: needed(variables.table),
    bucket: needed(variables.bucket),
    pipeline: environment[variables.pipeline],
    parameters: JSON.parse(environment[variables.parameters] ?? "{}"),
    policy: policyOf(JSON.parse(environment[variables.policy] ?? "{}")),
    kafka: environment[variables.kafka] === undefined ? undefined : JSON.parse(environment[variables.kafka]!),
    stateMachineArn: () => needed(variables.stateMachine),
  };
}

/**
 * The knobs of a pipeline on Lambda: an input without end, epochs of ten seconds.
 *
 * @throws UsageError for one that is unknown or not a positive integer
 */
export function policyOf(given: PolicySettings): Policy {
  checkOptions("the policy", given, knobs);
  for (const knob of knobs) knob === "fused" ? checkSwitch(knob, given[knob]) : checkKnob(knob, given[knob]);
  const intervalMs = given.intervalMs ?? 10_000;
  return {
    bounded: false,
    hold: false,
    intervalMs,
    paceMs: intervalMs,
    adaptive: true,
    records: null,
    parallelism: 8,
    fused: true,
    attempts: 3,
    backOffMs: 1000,
    eventBudget: 20_000,
    ...given,
    draining: () => false,
  };
}

const dayMs = 86_400_000;

/** Least and most of what a deployment may say. A task has 15 minutes, an execution 25,000 events, of which a round of 200 tasks takes a good part. */
const bounds: Readonly<Record<Exclude<(typeof knobs)[number], "fused">, readonly [least: number, most: number]>> = {
  intervalMs: [1, 600_000],
  paceMs: [0, dayMs],
  parallelism: [1, 200],
  attempts: [1, 1000],
  records: [1, Number.MAX_SAFE_INTEGER],
  eventBudget: [1, 20_000],
};

function checkKnob(knob: keyof typeof bounds, value: unknown): void {
  const [least, most] = bounds[knob];
  if (value === undefined || (knob === "records" && value === null)) return;
  if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most) return;
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  throw new UsageError("invalid-option", `${knob} is ${String(value)}, but must be an integer ${range}`);
}

function checkSwitch(knob: string, value: unknown): void {
  if (value === undefined || typeof value === "boolean") return;
  throw new UsageError("invalid-option", `${knob} is ${String(value)}, but must be true or false`);
}
