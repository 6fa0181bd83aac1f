import { ArnFormat, Duration, Names, type RemovalPolicy, Stack } from "aws-cdk-lib";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { Architecture } from "aws-cdk-lib/aws-lambda";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import { Construct } from "constructs";
import { type PolicySettings, policyOf, variables } from "../functions/settings.ts";
import { checkOptions } from "../shared/options.ts";
import { bundleOf } from "./bundle.ts";
import { coordinator } from "./coordinator.ts";
import { descriptionOf } from "./description.ts";
import { type PipelineFunctions, pipelineFunctions } from "./functions.ts";
import { ledgerTable, stateBucket } from "./storage.ts";
import { wakeOnEndedExecutions, wakeRegularly } from "./wake-ups.ts";

export interface StreamPipelineProps {
  /** The module whose default export is the pipeline. */
  readonly entry: string;
  /** Values of the pipeline's parameters. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Epochs and tasks: `{ intervalMs: 1000 }`. By default epochs of ten seconds, and at most eight tasks a stage. */
  readonly policy?: PolicySettings;
  /** MiB of the functions that process records; 1,769 is one CPU, and the default. */
  readonly memory?: number;
  /** Default arm64. */
  readonly architecture?: Architecture;
  /** How often the pipeline is woken though nothing has told of new input; `"off"`: never. Default five minutes. */
  readonly heartbeat?: Duration | "off";
  /** Default three months. */
  readonly logRetention?: RetentionDays;
  /** Of bucket and table, when the stack is deleted. Default: they stay. */
  readonly removalPolicy?: RemovalPolicy;
  /** Where snapshots lie; the keys of this pipeline begin with its name. By default a bucket of its own. */
  readonly bucket?: IBucket;
  /** The ledger, with the keys `pk` and `sk`, both texts; several pipelines may share it. By default a table of its own. */
  readonly table?: ITable;
}

const known: readonly (keyof StreamPipelineProps)[] = [
  ...(["entry", "parameters", "policy", "memory", "architecture", "heartbeat"] as const),
  ...(["logRetention", "removalPolicy", "bucket", "table"] as const),
];

/** One CPU of Lambda. */
const oneCpu = 1769;

/**
 * A pipeline on AWS: snapshots in S3, the ledger in DynamoDB, the coordinator a state machine, the workers functions. While no data comes, nothing of it runs
 * but the heartbeat.
 *
 * @throws UsageError at synth for a wrong option, parameter or pipeline
 */
export class StreamPipeline extends Construct {
  readonly bucket: IBucket;
  readonly table: ITable;
  readonly stateMachine: StateMachine;
  readonly functions: PipelineFunctions;

  constructor(scope: Construct, id: string, props: StreamPipelineProps) {
    super(scope, id);
    checkOptions("StreamPipeline", props, known);
    const { parameters = {}, policy = {}, logRetention = RetentionDays.THREE_MONTHS } = props;
    policyOf(policy);
    const machineName = Names.uniqueResourceName(this, { maxLength: 80 });
    // Built, and not asked of the machine, which itself names the functions: that would be a cycle.
    const stateMachineArn = Stack.of(this).formatArn({
      ...{ service: "states", resource: "stateMachine", resourceName: machineName },
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    this.bucket = props.bucket ?? stateBucket(this, props.removalPolicy);
    this.table = props.table ?? ledgerTable(this, props.removalPolicy);
    this.functions = pipelineFunctions(this, {
      topology: descriptionOf(props.entry, parameters),
      places: { tableArn: this.table.tableArn, bucketArn: this.bucket.bucketArn, stateMachineArn },
      bundle: bundleOf(this, props.entry),
      environment: {
        [variables.table]: this.table.tableName,
        [variables.bucket]: this.bucket.bucketName,
        [variables.parameters]: Stack.of(this).toJsonString(parameters),
        [variables.policy]: JSON.stringify(policy),
      },
      triggerEnvironment: { [variables.stateMachine]: stateMachineArn },
      memory: props.memory ?? oneCpu,
      architecture: props.architecture ?? Architecture.ARM_64,
      logRetention,
    });
    this.stateMachine = coordinator(this, machineName, this.functions, logRetention);
    wakeOnEndedExecutions(this, this.stateMachine, this.functions);
    if (props.heartbeat !== "off") wakeRegularly(this, props.heartbeat ?? Duration.minutes(5), this.functions);
  }
}
