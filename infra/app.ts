/**
 * Deploys an example, as `npx cdk deploy` reads it from cdk.json: word-count, from lines in a bucket to counts in the same bucket. Or, where the context names a cluster,
 * word-count-kafka, from a topic to a topic:
 *
 *     npx cdk deploy
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
if (clusterArn ?? bootstrapServers) wordCountKafka();
else wordCount();

function wordCount(): void {
  const stack = new Stack(app, "epochflow-word-count");
  const data = new Bucket(stack, "Data", {
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    removalPolicy: RemovalPolicy.RETAIN,
  });
  const words = new StreamPipeline(stack, "WordCount", {
    entry: "examples/word-count.ts",
    parameters: { input: `s3://${data.bucketName}/input/`, output: `s3://${data.bucketName}/output` },
    architecture,
  });
  new CfnOutput(stack, "DataBucket", { value: data.bucketName });
  new CfnOutput(stack, "Trigger", { value: words.functions.trigger.functionName });
  new CfnOutput(stack, "StateMachine", { value: words.stateMachine.stateMachineArn });
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
