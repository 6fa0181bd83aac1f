/** The commands for deployed pipelines, where AWS refuses, or has not what is asked for: what they say, and with what exit code they leave. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { type DeployedPipeline, outputDescription } from "../composition/deployed-pipeline.ts";
import { cli, type Finished, startCli } from "./support/cli.ts";
import { cloudFormation, fakeAws, jsonError, nobody, queryError, type Services } from "./support/fake-aws.ts";

const deployed = (pipeline: string, sinks: Record<string, string> = {}): DeployedPipeline => ({
  pipeline,
  table: "ledger",
  bucket: "state",
  stateMachine: `arn:aws:states:eu-west-1:111122223333:stateMachine:${pipeline}`,
  functions: { trigger: `${pipeline}-trigger`, commit: `${pipeline}-commit`, collect: `${pipeline}-collect` },
  sinks,
});
const stackOf = (name: string, ...pipelines: DeployedPipeline[]) => ({
  name,
  outputs: Object.fromEntries(pipelines.map((one) => [outputDescription(one.pipeline), JSON.stringify(one)])),
});

const words = stackOf("words", deployed("word-count"));
const two = stackOf("two", deployed("orders"), deployed("clicks"));
const both = stackOf("files", deployed("files", { late: "s3://data/late", counts: "s3://data/counts" }));
const stacks = [words, two, both, { name: "website" }, { name: "young", status: "CREATE_IN_PROGRESS" }];

/** A command against AWS as the services say, or as one that has the stacks above. */
async function call(context: TestContext, line: string, services: Services = {}): Promise<Finished> {
  const env = await fakeAws(context, { cloudformation: cloudFormation(stacks), ...services });
  return await startCli(line.split(" "), { env }).finished;
}

/** It leaves with this code, and says this on standard error alone, without a stack. */
function leaves({ code, stdout, stderr }: Finished, expected: number, words: RegExp): void {
  assert.match(stderr, words);
  assert.deepEqual([code, stdout], [expected, ""]);
  assert.doesNotMatch(stderr, /\n +at /, "a stack");
}

describe("a deployed pipeline and one on this machine do not go together:", () => {
  const cases: [call: string, error: RegExp][] = [
    ["status words.ts --stack words", /--stack words names a deployed.* "words\.ts" one on this machine\n.*--pipeline/],
    ["epochs --stack words --state dir", /--state one on this machine\n {2}way out: Leave one of the two out/],
    ["lag --stack words --set input=x", /--set one on this machine\n.*has its parameters/],
    ["read out --stack words", /"out" one on this machine/],
    ["pause --pipeline words", /--pipeline says which .* no --stack\n {2}way out: Add --stack NAME/],
    ["resume --region eu-west-1", /--region says which/],
    ["read out --sink counts", /--sink picks a sink of a deployed pipeline/],
    ["read", /read needs a folder, or the stack/],
    ["lag", /lag needs a pipeline, or the stack/],
    ["reset --stack words", /Unknown option "--stack"/],
  ];
  for (const [line, error] of cases) test(line, async () => leaves(await cli(...line.split(" ")), 2, error));
});

describe("the way to AWS:", () => {
  const alone = (line: string, env: Record<string, string>) =>
    startCli(line.split(" "), { env: { ...nobody, ...env } }).finished;

  test("no region", async () => {
    leaves(await alone("status --stack words", {}), 2, /No region is set.*\n {2}way out: Add --region.*AWS_REGION/);
    leaves(await alone("status --stack words --region europe/west", {}), 2, /europe\/west.*names like eu-west-1/s);
  });

  test("no credentials", async () => {
    const without = await alone("status --stack words", { AWS_REGION: "eu-west-1" });
    leaves(without, 2, /There are no credentials for AWS: .*\n {2}way out: .*aws sso login.*--profile/);
    const profile = await alone("status --stack words --region eu-west-1 --profile admin", {});
    leaves(profile, 2, /There are no credentials for AWS in the profile admin/);
  });

  test("credentials that have expired", async (context) => {
    const expired = () => queryError("ExpiredToken", "The security token included in the request is expired", 403);
    const finished = await call(context, "status --stack words", { cloudformation: expired });
    leaves(
      finished,
      1,
      /look up the stack words in eu-west-1: the credentials have expired.*\n {2}way out: Get new ones/,
    );
  });

  test("nobody listens", async () => {
    const env = { AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
    const finished = await alone("status --stack words", { ...env, AWS_ENDPOINT_URL: "http://127.0.0.1:9" });
    leaves(finished, 1, /Cannot look up the stack words in eu-west-1: there was no answer \(ECONNREFUSED\)/);
  });
});

describe("the stack:", () => {
  test("there is none of this name, but others", async (context) => {
    const finished = await call(context, "status --stack word --region eu-west-1");
    leaves(
      finished,
      2,
      /There is no stack word in eu-west-1\. Did you mean "words"\?\n {2}way out: .* files, two, words\./,
    );
  });

  test("it has no pipeline, or none yet", async (context) => {
    leaves(
      await call(context, "epochs --stack website"),
      2,
      /website \(CREATE_COMPLETE\) tells of no pipeline\n.*StreamPipeline/,
    );
    leaves(
      await call(context, "epochs --stack young"),
      2,
      /CREATE_IN_PROGRESS.*\n {2}way out: Wait until it is deployed/,
    );
  });

  test("it has several", async (context) => {
    const which = /two has 2 pipelines: which one\?\n {2}way out: Add one of: --pipeline clicks, --pipeline orders/;
    leaves(await call(context, "pause --stack two"), 2, which);
    leaves(
      await call(context, "pause --stack two --pipeline order"),
      2,
      /no pipeline "order"\. Did you mean "orders"\?/,
    );
  });

  test("it was deployed by another version", async (context) => {
    const older = { name: "words", outputs: { [outputDescription("words")]: '{"pipeline":"words"}' } };
    const finished = await call(context, "status --stack words", { cloudformation: cloudFormation([older]) });
    leaves(finished, 2, /no table, .*\n {2}way out: Deploy the stack with the version/);
  });

  test("its pipeline writes no files, or to several places", async (context) => {
    leaves(await call(context, "read --stack words"), 2, /word-count has no sink that writes files to S3\n.*consumer/);
    leaves(await call(context, "read --stack files"), 2, /which one\?\n {2}way out: .*--sink counts, --sink late/);
    leaves(await call(context, "read --stack files --sink count"), 2, /no sink "count".* Did you mean "counts"\?/);
  });
});

describe("what is not permitted is named:", () => {
  const denied = (action: string) => `User: me is not authorized to perform: ${action} on resource: arn:aws:it`;

  test("in CloudFormation", async (context) => {
    const refuse = () => queryError("AccessDenied", denied("cloudformation:DescribeStacks"), 403);
    const finished = await call(context, "status --stack words", { cloudformation: refuse });
    leaves(finished, 1, /this is not permitted \(AccessDenied: cloudformation:DescribeStacks\)\n.*docs\/deploy\.md/);
  });

  test("in DynamoDB", async (context) => {
    const refuse = () => jsonError("AccessDeniedException", denied("dynamodb:GetItem"));
    const finished = await call(context, "status --stack words", { dynamodb: refuse });
    leaves(finished, 1, /Cannot read the ledger in table ledger: .*\(AccessDeniedException: dynamodb:GetItem\)/);
  });

  test("in S3", async (context) => {
    const body = `<Error><Code>AccessDenied</Code><Message>${denied("s3:ListBucket")}</Message></Error>`;
    const finished = await call(context, "read --stack files --sink counts", { s3: () => ({ status: 403, body }) });
    leaves(finished, 1, /Cannot list s3:\/\/data\/counts\/.*: this is not permitted \(AccessDenied: s3:ListBucket\)/);
  });
});

test("a pipeline that never ran says how it starts", async (context) => {
  const finished = await call(context, "status --stack words", { dynamodb: () => ({ status: 200, body: "{}" }) });
  leaves(finished, 2, /word-count of the stack words has never run.*\n {2}way out: .*word-count-trigger/);
});
