/** Deploys an example, as `npx cdk deploy` reads it from cdk.json: word-count, from lines in a bucket to counts in the same bucket. */
import { App, CfnOutput, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Architecture } from "aws-cdk-lib/aws-lambda";
import { BlockPublicAccess, Bucket, BucketEncryption } from "aws-cdk-lib/aws-s3";
import { StreamPipeline } from "./index.ts";

const app = new App();
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
  architecture: app.node.tryGetContext("architecture") === "x86_64" ? Architecture.X86_64 : Architecture.ARM_64,
});
new CfnOutput(stack, "DataBucket", { value: data.bucketName });
new CfnOutput(stack, "Trigger", { value: words.functions.trigger.functionName });
new CfnOutput(stack, "StateMachine", { value: words.stateMachine.stateMachineArn });
