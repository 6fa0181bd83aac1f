import { ArnFormat, Duration, Names, Stack } from "aws-cdk-lib";
import type { Dashboard } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { Connections, IConnectable } from "aws-cdk-lib/aws-ec2";
import type { Grant, IGrantable } from "aws-cdk-lib/aws-iam";
import { Architecture, type EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import { LogGroup, type LogGroupProps, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import type { Construct } from "constructs";
import { policyOf } from "../functions/settings.ts";
import { alarms, type PipelineAlarms } from "./alarms.ts";
import { bundleOf } from "./bundle.ts";
import { checkProps } from "./check.ts";
import { coordinator } from "./coordinator.ts";
import { dashboard } from "./dashboard.ts";
import { keyArnsOf, letLogsUse, queueEncryption, readingBy, writingBy } from "./encryption.ts";
import { type PipelineFunctions, pipelineFunctions } from "./functions.ts";
import { wakeOnRecords } from "./kafka/mappings.ts";
import { MeasuredPipeline } from "./metrics.ts";
import { connectionsOf } from "./network.ts";
import { pipelineOutput } from "./output.ts";
import type { StreamPipelineProps } from "./props.ts";
import { type ResolvedPipeline, resolvePipeline } from "./resolve.ts";
import { grant, readRights } from "./rights.ts";
import { ledgerTable, stateBucket } from "./storage.ts";
import { wakeOnDeployment, wakeOnEndedExecutions, wakeRegularly } from "./wake-ups.ts";

/** One CPU of Lambda. */
const oneCpu = 1769;
const enoughForSmallEpochs = 1024;

/**
 * A pipeline on AWS: snapshots in S3, the ledger in DynamoDB, the coordinator a state machine, the workers functions. While no data comes, nothing of it runs
 * but the heartbeat.
 *
 * @throws UsageError at synth for a wrong option, parameter or pipeline
 */
export class StreamPipeline extends MeasuredPipeline implements IConnectable {
  readonly pipelineName: string;
  readonly bucket: IBucket;
  readonly table: ITable;
  readonly stateMachine: StateMachine;
  readonly functions: PipelineFunctions;
  /** One for each topic whose records wake the pipeline. */
  readonly eventSourceMappings: readonly EventSourceMapping[];
  readonly alarms: PipelineAlarms;
  readonly dashboard?: Dashboard;
  readonly #resolved: ResolvedPipeline;
  readonly #keyArns: readonly string[];

  constructor(scope: Construct, id: string, props: StreamPipelineProps) {
    super(scope, id);
    checkProps(props);
    const { removalPolicy, encryptionKey, policy = {}, memory = oneCpu, heartbeat = Duration.minutes(5) } = props;
    policyOf(policy);
    this.#resolved = resolvePipeline(this, props);
    const { topology, kafka } = this.#resolved;
    this.pipelineName = topology.name;
    this.bucket = props.bucket ?? stateBucket(this, topology.name, { removalPolicy, encryptionKey });
    this.table = props.table ?? ledgerTable(this, { removalPolicy, encryptionKey });
    this.#keyArns = keyArnsOf(this.bucket, this.table, encryptionKey);
    if (encryptionKey) letLogsUse(encryptionKey, this);
    const logs: LogGroupProps = {
      retention: props.logRetention ?? RetentionDays.THREE_MONTHS,
      ...(encryptionKey && { encryptionKey }),
    };

    const machineName = Names.uniqueResourceName(this, { maxLength: 80 });
    // Built, and not asked of the machine, which itself names the functions: that would be a cycle.
    const stateMachineArn = Stack.of(this).formatArn({
      ...{ service: "states", resource: "stateMachine", resourceName: machineName },
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    this.functions = pipelineFunctions(this, {
      ...this.#resolved,
      ...{ bucket: this.bucket, table: this.table, stateMachineArn, keyRights: writingBy(this.#keyArns), policy, logs },
      bundle: bundleOf(this, props.entry),
      memory,
      fusedMemory: props.fusedMemory ?? Math.min(memory, enoughForSmallEpochs),
      architecture: props.architecture ?? Architecture.ARM_64,
    });
    this.stateMachine = coordinator(this, machineName, this.functions, new LogGroup(this, "CoordinatorLogs", logs));

    const { functions, stateMachine, table, bucket } = this;
    const encryption = queueEncryption(encryptionKey);
    const ended = wakeOnEndedExecutions(this, stateMachine, functions, encryption);
    if (heartbeat !== "off") wakeRegularly(this, heartbeat, functions);
    this.eventSourceMappings = kafka
      ? wakeOnRecords(this, functions.trigger, kafka, encryption, props.batchingWindow)
      : [];
    wakeOnDeployment(this, stateMachine, functions);

    const deadLetterQueues = [ended, ...(kafka?.wakeUps ? [kafka.wakeUps.deadLetters] : [])];
    const observed = { pipeline: this, functions, deadLetterQueues };
    this.alarms = alarms(this, { ...observed, heartbeat, topic: props.alarmTopic });
    if (props.dashboard !== false)
      this.dashboard = dashboard(this, { ...observed, topology, stateMachine, table, bucket, alarms: this.alarms });
    pipelineOutput(this, topology, functions, {
      table: table.tableName,
      bucket: bucket.bucketName,
      stateMachine: stateMachineArn,
    });
  }

  /** Of the functions that talk to brokers, and of Lambda's pollers for brokers that are not MSK's. @throws UsageError `missing-vpc` if they lie in no VPC */
  get connections(): Connections {
    return connectionsOf(this.#resolved.network);
  }

  /**
   * To read the ledger and what is in buckets of the output, and to see whether an execution is at work: what `epochflow status`, `epochs`, `lag` and `read` need, besides
   * `cloudformation:DescribeStacks`. Topics are their cluster's to grant.
   */
  grantRead(grantee: IGrantable): Grant {
    const { topology } = this.#resolved;
    const places = { tableArn: this.table.tableArn, bucketArn: this.bucket.bucketArn };
    const read = grant(grantee, [...readRights(this, topology, places), ...readingBy(this.#keyArns)]);
    return read.combine(this.stateMachine.grantExecution(grantee, "states:DescribeExecution"));
  }

  /** To wake the pipeline: to invoke the function `trigger` with `{ "source": "epochflow" }`. */
  grantWake(grantee: IGrantable): Grant {
    return grant(grantee, [{ actions: ["lambda:InvokeFunction"], resources: [this.functions.trigger.functionArn] }]);
  }
}
