import assert from "node:assert/strict";
import { test } from "node:test";
import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { AwsSolutionsChecks } from "cdk-nag";
import { StreamPipeline, type StreamPipelineProps } from "./index.ts";

const entry = "examples/word-count.ts";
const paths = { input: "s3://data/input/", output: "s3://data/output" };

function stackOf(props: Partial<StreamPipelineProps> = {}) {
  const app = new App({ context: { "aws:cdk:bundling-stacks": [] } });
  const stack = new Stack(app, "stack");
  const pipeline = new StreamPipeline(stack, "Words", { entry, parameters: paths, ...props });
  return { app, pipeline, template: Template.fromStack(stack) };
}

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: object;
}

const listOf = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

/** Statements by the logical id of the policy that holds them. */
function statementsOf(template: Template): [policy: string, Statement][] {
  const policies = Object.entries(template.findResources("AWS::IAM::Policy"));
  return policies.flatMap(([id, { Properties }]) =>
    Properties.PolicyDocument.Statement.map((statement: Statement) => [id, statement]),
  );
}

test("everything is encrypted, and data stays when the stack goes", () => {
  const { template } = stackOf();
  template.hasResource("AWS::S3::Bucket", {
    Properties: { BucketEncryption: {}, PublicAccessBlockConfiguration: { BlockPublicAcls: true } },
    DeletionPolicy: "Retain",
  });
  template.hasResource("AWS::DynamoDB::GlobalTable", { DeletionPolicy: "Retain" });
  const queues = Object.values(template.findResources("AWS::SQS::Queue"));
  assert.ok(queues.length > 0 && queues.every(({ Properties }) => Properties.SqsManagedSseEnabled));
});

test("no action is a wildcard, and what is for every resource is forced by AWS", () => {
  const { template } = stackOf();
  const allowed = /^(xray|logs):/;
  for (const [policy, { Action, Resource }] of statementsOf(template))
    for (const action of listOf(Action)) {
      assert.ok(!action.includes("*"), `${policy}: ${action}`);
      assert.ok(Resource !== "*" || allowed.test(action), `${policy}: ${action} of everything`);
    }
});

test("only collect deletes objects and rows; commit deletes old manifests; the ledger is by leading keys", () => {
  const { template } = stackOf();
  for (const [policy, { Action, Condition, Resource }] of statementsOf(template)) {
    if (listOf(Action).some((action) => /^(s3|dynamodb):(Delete|BatchWrite)/.test(action)))
      assert.ok(/Collect/.test(policy) || JSON.stringify(Resource).includes(".epochflow/manifests/*"), policy);
    if (listOf(Action).some((action) => action.startsWith("dynamodb:")))
      assert.deepEqual(Condition, { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["word-count"] } });
  }
});

test("every function has a role of its own, and one bundle", () => {
  const { template, pipeline } = stackOf();
  const names = Object.keys(pipeline.functions);
  assert.deepEqual(names, ["trigger", "plan", "operate", "decide", "commit", "abort", "collect"]);
  const made = Object.values(template.findResources("AWS::Lambda::Function")).filter(({ Properties }) =>
    names.includes(Properties.Handler.replace("index.", "")),
  );
  assert.equal(made.length, names.length);
  assert.equal(new Set(made.map(({ Properties }) => JSON.stringify(Properties.Role))).size, names.length);
  assert.equal(new Set(made.map(({ Properties }) => JSON.stringify(Properties.Code))).size, 1);
  assert.ok(made.every(({ Properties }) => Properties.Architectures[0] === "arm64"));
});

test("the heartbeat can be off", () => {
  const schedules = (template: Template) =>
    Object.values(template.findResources("AWS::Events::Rule")).filter(
      ({ Properties }) => Properties.ScheduleExpression,
    );
  assert.equal(schedules(stackOf().template).length, 1);
  assert.equal(schedules(stackOf({ heartbeat: "off" }).template).length, 0);
});

test("what is wrong fails at synth, by name", () => {
  assert.throws(() => stackOf({ parameters: { ...paths, inptu: "x" } }), { message: /Did you mean "input"/ });
  assert.throws(() => stackOf({ memroy: 512 } as never), { message: /Did you mean "memory"/ });
  assert.throws(() => stackOf({ policy: { intervalMs: 0 } }), { message: /intervalMs is 0/ });
});

test("cdk-nag's AWS Solutions pass", () => {
  const { app } = stackOf();
  const { violations } = new AwsSolutionsChecks(app).validateScope(app);
  assert.deepEqual(
    violations.map(({ ruleName, violatingResources }) => [
      ruleName,
      violatingResources.map((one) => JSON.stringify(one).slice(0, 300)),
    ]),
    [],
  );
});
