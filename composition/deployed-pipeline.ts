import { UsageError } from "../shared/errors.ts";

/**
 * What a stack tells of a pipeline in it, in one of its outputs, so that a command that knows the stack's name alone finds the rest. It is written by `StreamPipeline`,
 * and has no secret in it.
 */
export interface DeployedPipeline {
  readonly pipeline: string;
  /** Name of the ledger's table. */
  readonly table: string;
  /** Name of the bucket of snapshots. */
  readonly bucket: string;
  /** The state machine's ARN. */
  readonly stateMachine: string;
  /** Names of the functions that people, or commands for them, invoke. */
  readonly functions: { readonly trigger: string; readonly commit: string; readonly collect: string };
  /** Where the sinks of files write, by their ids: `s3://bucket/prefix`. */
  readonly sinks: Readonly<Record<string, string>>;
}

/** An output's key ends like this, and its description begins like that. */
export const outputId = "Pipeline";
export const outputDescription = (pipeline: string) => `epochflow pipeline ${pipeline}`;

const texts = ["pipeline", "table", "bucket", "stateMachine"] as const;
const functions = ["trigger", "commit", "collect"] as const;

/**
 * @param value of an output of a stack
 * @throws UsageError `not-a-deployed-pipeline` for one that `StreamPipeline` of this version has not written
 */
export function parseDeployedPipeline(value: string): DeployedPipeline {
  const given = objectOf(jsonOf(value));
  const missing = [
    ...texts.filter((name) => typeof given[name] !== "string"),
    ...functions
      .filter((name) => typeof objectOf(given.functions)[name] !== "string")
      .map((name) => `functions.${name}`),
    ...(isTexts(given.sinks) ? [] : ["sinks"]),
  ];
  if (missing.length === 0) return given as unknown as DeployedPipeline;
  throw new UsageError(
    "not-a-deployed-pipeline",
    `The stack's output describes no pipeline: no ${missing.join(", ")}`,
    {
      wayOut: "Deploy the stack with the version of epochflow that the command has.",
    },
  );
}

function jsonOf(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const objectOf = (value: unknown) => (isObject(value) ? value : {});

const isTexts = (value: unknown) => isObject(value) && Object.values(value).every((each) => typeof each === "string");
