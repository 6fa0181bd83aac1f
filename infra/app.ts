/**
 * Deploys an example, as `npx cdk deploy` reads it from cdk.json: word-count or another one of files, from a bucket into the same bucket. Or, where the context names a
 * cluster, word-count-kafka, from a topic to a topic:
 *
 *     npx cdk deploy
 *     npx cdk deploy -c example=orders
 *     npx cdk deploy -c clusterArn=ARN -c vpcId=vpc-1 -c input=lines -c output=counts
 *     npx cdk deploy -c bootstrapServers=b-1:9092,b-2:9092 -c vpcId=vpc-1 -c subnets=Public
 */
import { App, CfnOutput, RemovalPolicy, Stack } from "aws-cdk-lib";
import { type SubnetType, Vpc } from "aws-cdk-lib/aws-ec2";
import { Architecture } from "aws-cdk-lib/aws-lambda";
import { BlockPublicAccess, Bucket, BucketEncryption } from "aws-cdk-lib/aws-s3";
import { Kafka, StreamPipeline } from "./index.ts";

const app = new App();
/** `-c name=value`. */
const context = (name: string): string | undefined => app.node.tryGetContext(name);
const architecture = context("architecture") === "x86_64" ? Architecture.X86_64 : Architecture.ARM_64;
const clusterArn = context("clusterArn");
const bootstrapServers = context("bootstrapServers");
/** Examples of files, and the parameters that say where their output goes. */
const outputs: Readonly<Record<string, readonly string[]>> = {
  "word-count": ["output"],
  "access-log": ["output"],
  orders: ["output", "late", "deadLetters"],
};

if (clusterArn ?? bootstrapServers) wordCountKafka();
else ofFiles(context("example") ?? "word-count");

function ofFiles(example: string): void {
  const folders = outputs[example];
  if (!folders) throw new Error(`-c example is "${example}", but must be one of ${Object.keys(outputs).join(", ")}`);
  const stack = new Stack(app, `epochflow-${example}`);
  const data = new Bucket(stack, "Data", {
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    removalPolicy: RemovalPolicy.RETAIN,
  });
  const pipeline = new StreamPipeline(stack, "Pipeline", {
    entry: `examples/${example}.ts`,
    parameters: Object.fromEntries(["input", ...folders].map((name) => [name, `s3://${data.bucketName}/${name}/`])),
    architecture,
  });
  new CfnOutput(stack, "DataBucket", { value: data.bucketName });
  new CfnOutput(stack, "Trigger", { value: pipeline.functions.trigger.functionName });
  new CfnOutput(stack, "StateMachine", { value: pipeline.stateMachine.stateMachineArn });
}

function wordCountKafka(): void {
  // Looking up a VPC needs to know where.
  const env = { account: process.env.CDK_DEFAULT_ACCOUNT!, region: process.env.CDK_DEFAULT_REGION! };
  const stack = new Stack(app, "epochflow-word-count-kafka", { env });
  const vpcId = context("vpcId");
  const subnetType = context("subnets") as SubnetType | undefined;
  const where = {
    ...(vpcId && { vpc: Vpc.fromLookup(stack, "Vpc", { vpcId }) }),
    ...(subnetType && { vpcSubnets: { subnetType } }),
  };
  const words = new StreamPipeline(stack, "WordCount", {
    entry: "examples/word-count-kafka.ts",
    kafka: clusterArn
      ? Kafka.msk(clusterArn, where)
      : Kafka.selfManaged({ bootstrapServers: bootstrapServers ?? "", ...where }),
    parameters: { input: context("input") ?? "lines", output: context("output") ?? "counts" },
    architecture,
  });
  new CfnOutput(stack, "StateMachine", { value: words.stateMachine.stateMachineArn });
}
