/** `npm run deploy`: the pipeline on AWS. It reads what is put into the bucket under `input/`, and writes below `output/`. */
import { App, CfnOutput, RemovalPolicy, Stack } from "aws-cdk-lib";
import { BlockPublicAccess, Bucket, BucketEncryption } from "aws-cdk-lib/aws-s3";
import { StreamPipeline } from "epochflow/infra";

const stack = new Stack(new App(), "orders");
const data = new Bucket(stack, "Data", {
  encryption: BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  removalPolicy: RemovalPolicy.RETAIN,
});
new StreamPipeline(stack, "Orders", {
  entry: "pipeline.ts",
  parameters: {
    input: `s3://${data.bucketName}/input/`,
    output: `s3://${data.bucketName}/output/revenue/`,
    deadLetters: `s3://${data.bucketName}/output/dead-letters/`,
    late: `s3://${data.bucketName}/output/late/`,
  },
});
new CfnOutput(stack, "DataBucket", { value: data.bucketName });
