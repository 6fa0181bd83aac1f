import { Duration, Stack } from "aws-cdk-lib";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type Architecture, Runtime, Tracing } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction, type NodejsFunctionProps } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, type LogGroupProps } from "aws-cdk-lib/aws-logs";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { type PolicySettings, variables } from "../functions/settings.ts";
import { UsageError } from "../shared/errors.ts";
import { acknowledgeWildcards } from "./acknowledged.ts";
import { type FunctionName, functionNames } from "./bundle.ts";
import { type Network, talkingToBrokers } from "./kafka/cluster.ts";
import { kafkaRights } from "./kafka/pipeline-kafka.ts";
import { checkNativeModules } from "./native-modules.ts";
import type { ResolvedPipeline } from "./resolve.ts";
import { allow, networkRight, type Right, rightsOf } from "./rights.ts";

export interface FunctionOptions extends ResolvedPipeline {
  readonly bucket: IBucket;
  readonly table: ITable;
  readonly stateMachineArn: string;
  /** To encrypt and decrypt what they read and write. */
  readonly keyRights: readonly Right[];
  readonly policy: PolicySettings;
  readonly bundle: NodejsFunctionProps;
  readonly memory: number;
  readonly fusedMemory: number;
  readonly architecture: Architecture;
  readonly logs: LogGroupProps;
}

export type PipelineFunctions = Readonly<Record<FunctionName, NodejsFunction>>;

/** Those that touch records: they get the memory, and time up to the state machine's own time-outs. */
const working: ReadonlySet<FunctionName> = new Set(["fused", "operate", "commit", "collect"]);
const quickMemory = 512;

function memoryOf(name: FunctionName, { memory, fusedMemory }: FunctionOptions): number {
  if (name === "fused") return fusedMemory;
  return working.has(name) ? memory : quickMemory;
}

/** @throws UsageError for memory that Lambda does not have */
export function pipelineFunctions(scope: Construct, options: FunctionOptions): PipelineFunctions {
  checkMemory(options);
  const made = functionNames.map((name) => [name, pipelineFunction(scope, name, options)] as const);
  return Object.fromEntries(made) as unknown as PipelineFunctions;
}

function checkMemory(options: FunctionOptions): void {
  for (const name of ["memory", "fusedMemory"] as const) {
    const MiB = options[name];
    if (Number.isInteger(MiB) && MiB >= 128 && MiB <= 10_240) continue;
    throw new UsageError("invalid-option", `${name} is ${MiB}, but must be an integer of MiB from 128 to 10240`);
  }
}

/** A function with a role and a log group of its own. */
function pipelineFunction(parent: Construct, name: FunctionName, options: FunctionOptions): NodejsFunction {
  const scope = new Construct(parent, name.charAt(0).toUpperCase() + name.slice(1));
  const { topology, bundle, architecture } = options;
  const network = talkingToBrokers.has(name) ? options.network : undefined;
  const role = new Role(scope, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  acknowledgeWildcards(role, ["*"], "X-Ray knows no resources.");
  const logGroup = new LogGroup(scope, "Logs", options.logs);
  role.addToPolicy(
    new PolicyStatement({
      actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
      // A function's streams, whose names Lambda makes up.
      resources: [logGroup.logGroupArn],
    }),
  );
  for (const right of rightsIn(scope, name, options)) allow(role, right);
  if (network) allow(role, networkRight());
  const made = new NodejsFunction(scope, "Function", {
    ...bundle,
    handler: name,
    runtime: Runtime.NODEJS_24_X,
    architecture,
    memorySize: memoryOf(name, options),
    timeout: working.has(name) ? Duration.minutes(15) : Duration.minutes(1),
    tracing: Tracing.ACTIVE,
    role,
    logGroup,
    environment: environmentOf(scope, name, options),
    ...(network && placed(network)),
    description: `${name} of the pipeline ${topology.name} (epochflow, ${Stack.of(scope).stackName})`,
  });
  checkNativeModules(made, architecture);
  return made;
}

function rightsIn(scope: Construct, name: FunctionName, options: FunctionOptions): Right[] {
  const { topology, table, bucket, stateMachineArn, keyRights, kafka } = options;
  const places = { tableArn: table.tableArn, bucketArn: bucket.bucketArn, stateMachineArn };
  return [...rightsOf(scope, name, topology, places), ...keyRights, ...(kafka ? kafkaRights(name, kafka) : [])];
}

function environmentOf(scope: Construct, name: FunctionName, options: FunctionOptions): Record<string, string> {
  const { table, bucket, stateMachineArn, parameters, policy, kafka } = options;
  // It knows values that are known only when the stack is deployed.
  const json = (value: object) => Stack.of(scope).toJsonString(value);
  return {
    [variables.table]: table.tableName,
    [variables.bucket]: bucket.bucketName,
    [variables.pipeline]: options.topology.name,
    [variables.parameters]: json(parameters),
    [variables.policy]: json(policy),
    ...(kafka && talkingToBrokers.has(name) && { [variables.kafka]: json(kafka.cluster.access) }),
    ...(name === "trigger" && { [variables.stateMachine]: stateMachineArn }),
  };
}

/** Who names subnets may name public ones, from which functions reach what has an endpoint in the VPC. */
const placed = ({ vpc, vpcSubnets, securityGroups }: Network) => ({
  vpc,
  ...(vpcSubnets && { vpcSubnets, allowPublicSubnet: true }),
  securityGroups: [...securityGroups],
});
