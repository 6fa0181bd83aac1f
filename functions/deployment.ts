import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import { type ComposedEngine, composeEngine } from "../composition/engine.ts";
import { clientSettings, objectRequestTimeoutMs } from "../shared/adapters/aws/client-settings.ts";
import { DynamoLedger } from "../shared/adapters/dynamodb/ledger.ts";
import { S3ObjectStore } from "../shared/adapters/s3/object-store.ts";
import { StepFunctionsExecutions } from "../shared/adapters/stepfunctions/executions.ts";
import { systemRandom } from "../shared/adapters/system/random.ts";
import { bind } from "../shared/pipeline/bind.ts";
import { describe } from "../shared/pipeline/describe.ts";
import { fingerprint } from "../shared/pipeline/fingerprint.ts";
import type { Executions } from "../shared/ports/executions.ts";
import type { Head, Ledger } from "../shared/ports/ledger.ts";
import { kafkaAccessOf } from "./kafka-access.ts";
import { once } from "./once.ts";
import { settingsOf } from "./settings.ts";

/** What `wake` needs; it has no connection to the pipeline's sources and sinks. */
export interface Awakener {
  readonly pipeline: string;
  readonly uid: string;
  readonly ledger: Ledger;
  readonly executions: Executions;
}

/** What a sandbox keeps from one invocation to the next; made at the first one that needs it. */
export interface Deployment {
  readonly pipeline: string;
  engine(): Promise<ComposedEngine>;
  awakener(): Promise<Awakener>;
}

/**
 * A pipeline's parts on AWS, as the environment variables of its functions name them.
 *
 * @param codeDigest of the whole bundle, which all functions of a deployment share
 * @throws UsageError for a definition that is no pipeline, or parameters that are not its own
 */
export function deploymentOf(definition: unknown, codeDigest: string, environment: NodeJS.ProcessEnv): Deployment {
  const settings = settingsOf(environment);
  const topology = bind(describe(definition), settings.parameters, settings.pipeline);
  const pipeline = topology.name;
  const objects = new S3ObjectStore({
    client: new S3Client(clientSettings({ requestTimeoutMs: objectRequestTimeoutMs })),
    bucket: settings.bucket,
  });
  const ledger = new DynamoLedger({
    client: new DynamoDBClient(clientSettings()),
    table: settings.table,
    pipeline,
    objects,
  });
  /** HEAD is made by whichever function comes first. */
  const open = once((): Promise<Head> => {
    const first = { pipeline, uid: systemRandom.nonce(), fingerprint: JSON.stringify(fingerprint(topology)) };
    return ledger.open(first);
  });
  const executions = once(async () => {
    const stateMachineArn = settings.stateMachineArn();
    return new StepFunctionsExecutions({ client: new SFNClient(clientSettings()), stateMachineArn });
  });
  return {
    pipeline,
    engine: once(async () => {
      const { uid } = await open();
      const { policy, kafka, parameters } = settings;
      const parts = { topology, codeDigest, uid, ledger, objects, policy, executions: startsNone };
      return await composeEngine(parts, {
        kafkaAccess: kafka && { brokers: parameters.brokers ?? "", ...kafkaAccessOf(kafka) },
      });
    }),
    awakener: async () => ({ pipeline, uid: (await open()).uid, ledger, executions: await executions() }),
  };
}

/** Only `trigger` calls Step Functions (protocol §6). */
const notHere = async (): Promise<never> => {
  throw new Error("this function starts no executions");
};
const startsNone: Executions = { start: notHere, describe: notHere };
