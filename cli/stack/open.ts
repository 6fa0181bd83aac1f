import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import type { DeployedPipeline } from "../../composition/deployed-pipeline.ts";
import { DynamoLedger } from "../../shared/adapters/dynamodb/ledger.ts";
import { Bucket } from "../../shared/adapters/s3/bucket.ts";
import { S3ObjectStore } from "../../shared/adapters/s3/object-store.ts";
import { StepFunctionsExecutions } from "../../shared/adapters/stepfunctions/executions.ts";
import { executionName } from "../../shared/epoch/names.ts";
import { UsageError } from "../../shared/errors.ts";
import type { Head, Ledger } from "../../shared/ports/ledger.ts";
import type { OpenPipeline } from "../open-pipeline.ts";
import { flagsOf, type OfStack } from "../stack-options.ts";
import { abandonIn } from "./abandon.ts";
import { settingsFor } from "./clients.ts";
import { findDeployed } from "./find.ts";
import { invoke } from "./invoke.ts";

/** `trigger` has a minute, and a cold start before it. */
const wakeTimeoutMs = 90_000;

/** @throws UsageError those of `findDeployed`; `no-state` for a pipeline that never ran */
export async function openStack(options: OfStack): Promise<OpenPipeline> {
  const deployed = await findDeployed(options);
  const settings = settingsFor(options);
  const clients = { dynamodb: new DynamoDBClient(settings), s3: new S3Client(settings), sfn: new SFNClient(settings) };
  const close = async () => {
    for (const client of Object.values(clients)) client.destroy();
  };
  const objects = new S3ObjectStore({ client: clients.s3, bucket: deployed.bucket });
  const ledger = new DynamoLedger({ client: clients.dynamodb, ...deployed, objects });
  try {
    const head = await ledger.head();
    if (head === undefined) throw neverRan(deployed, options);
    return { ...partsOf(deployed, options, clients, ledger, head), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

function partsOf(
  deployed: DeployedPipeline,
  options: OfStack,
  { s3, sfn }: { readonly s3: S3Client; readonly sfn: SFNClient },
  ledger: Ledger,
  head: Head,
): Omit<OpenPipeline, typeof Symbol.asyncDispose> {
  const { table, bucket, stateMachine, functions } = deployed;
  return {
    worker: "execution",
    places: { stack: options.stack, table, bucket, stateMachine },
    flags: flagsOf(options),
    ledger,
    head,
    atWork: () => isAtWork(new StepFunctionsExecutions({ client: sfn, stateMachineArn: stateMachine }), ledger, head),
    // Executions take no harm from what a command does beside them.
    takeLease: () => ({ [Symbol.dispose]() {} }),
    sizeOf: async (object) => (await new Bucket(s3, bucket).head(object))?.bytes,
    wake: async () => sayWhatWakes(await invoke(options, functions.trigger, { source: "epochflow" }, wakeTimeoutMs)),
    abandon: (what) => abandonIn(options, functions.commit, what),
  };
}

async function isAtWork(executions: StepFunctionsExecutions, ledger: Ledger, { pipeline, uid }: Head) {
  const { owner } = await ledger.wake();
  return owner !== null && (await executions.describe(executionName(pipeline, uid, owner))) === "running";
}

function sayWhatWakes(answer: unknown): string {
  const { outcomes = [] } = (answer ?? {}) as { readonly outcomes?: readonly string[] };
  return outcomes.includes("started") ? "An execution has started." : "An execution is at work.";
}

function neverRan({ pipeline, functions, table }: DeployedPipeline, { stack }: OfStack): UsageError {
  return new UsageError("no-state", `${pipeline} of the stack ${stack} has never run: its table ${table} is empty`, {
    wayOut: `It starts with its first input, or the next heartbeat, or when ${functions.trigger} is invoked with {"source":"epochflow"}.`,
  });
}
