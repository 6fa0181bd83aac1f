/** The CDK app of tests: one pipeline, as `-c settings=…` says. It wants no `cdk bootstrap`, which takes seconds, but a bucket for bundles (`-c bundles=…`). */
import {
  App,
  CfnOutput,
  CliCredentialsStackSynthesizer,
  type IStackSynthesizer,
  type RemovalPolicy,
  Stack,
} from "aws-cdk-lib";
import { Vpc } from "aws-cdk-lib/aws-ec2";
import { Architecture } from "aws-cdk-lib/aws-lambda";
import { Kafka, StreamPipeline } from "../../../infra/index.ts";
import { type AppSettings, type PipelineParts, partsOutput } from "../../support/aws/pipeline-stack.ts";

const app = new App();
const settings: AppSettings = JSON.parse(app.node.getContext("settings"));
const stack = new Stack(app, settings.stack, {
  synthesizer: new CliCredentialsStackSynthesizer({
    fileAssetsBucketName: app.node.getContext("bundles"),
  }) as IStackSynthesizer, // CDK is not written for exact optional properties
});

/** Brokers without a secret are reached in a VPC; to the emulator it is a name. */
function cluster(bootstrapServers: string) {
  const vpcId = "vpc-1";
  const subnets = { availabilityZones: ["a"], privateSubnetIds: ["subnet-1"] };
  return Kafka.selfManaged({ bootstrapServers, vpc: Vpc.fromVpcAttributes(stack, "Vpc", { vpcId, ...subnets }) });
}

const { removalPolicy = "retain", ...props } = settings.props;
const { brokers } = props.parameters ?? {};
const { table, bucket, stateMachine, functions } = new StreamPipeline(stack, "Pipeline", {
  ...props,
  removalPolicy: removalPolicy as RemovalPolicy,
  ...(brokers !== undefined && { kafka: cluster(brokers) }),
  heartbeat: "off",
  architecture: app.node.getContext("architecture") === "x86_64" ? Architecture.X86_64 : Architecture.ARM_64,
});
const named = Object.entries(functions);
for (const [variable, value] of Object.entries(settings.environment ?? {}))
  for (const [, made] of named) made.addEnvironment(variable, value);

const parts: PipelineParts = {
  table: table.tableName,
  bucket: bucket.bucketName,
  stateMachine: stateMachine.stateMachineArn,
  functions: Object.fromEntries(named.map(([name, made]) => [name, made.functionName])) as PipelineParts["functions"],
};
new CfnOutput(stack, partsOutput, { value: stack.toJsonString(parts) });
