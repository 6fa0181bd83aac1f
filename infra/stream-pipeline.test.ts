import assert from "node:assert/strict";
import { test } from "node:test";
import { Duration, NestedStack, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { type IVpc, Vpc } from "aws-cdk-lib/aws-ec2";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Alias, Key } from "aws-cdk-lib/aws-kms";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { parseDeployedPipeline } from "../composition/deployed-pipeline.ts";
import {
  findings,
  functionsOf,
  listOf,
  propertiesOf,
  quickApp,
  statementsOf,
  synthesize,
} from "../test/support/template.ts";
import { StreamPipeline, type StreamPipelineProps } from "./index.ts";

const entry = "examples/word-count.ts";
const paths = { input: "s3://data/input/", output: "s3://data/output" };
const names = ["trigger", "plan", "fused", "operate", "decide", "commit", "abort", "collect"];

const stackOf = (props: Partial<StreamPipelineProps> | ((stack: Stack) => Partial<StreamPipelineProps>) = {}) =>
  synthesize((stack) => ({ entry, parameters: paths, ...(typeof props === "function" ? props(stack) : props) }));
const plain = stackOf();

test("everything is encrypted, and data stays when the stack goes", () => {
  const { template } = plain;
  template.hasResource("AWS::S3::Bucket", {
    Properties: { BucketEncryption: {}, PublicAccessBlockConfiguration: { BlockPublicAcls: true } },
    DeletionPolicy: "Retain",
  });
  template.hasResource("AWS::DynamoDB::GlobalTable", { DeletionPolicy: "Retain" });
  const queues = propertiesOf(template, "AWS::SQS::Queue");
  assert.ok(queues.length > 0 && queues.every(({ SqsManagedSseEnabled }) => SqsManagedSseEnabled));
});

test("no action is a wildcard, and what is for every resource is forced by AWS", () => {
  const allowed = /^(xray|logs):/;
  for (const [policy, { Action, Resource }] of statementsOf(plain.template))
    for (const action of listOf(Action)) {
      assert.ok(!action.includes("*"), `${policy}: ${action}`);
      assert.ok(Resource !== "*" || allowed.test(action), `${policy}: ${action} of everything`);
    }
});

test("only collect deletes objects and rows; the ledger is by leading keys", () => {
  for (const [policy, { Action, Condition }] of statementsOf(plain.template)) {
    if (listOf(Action).some((action) => /^(s3|dynamodb):(Delete|BatchWrite)/.test(action)))
      assert.match(policy, /Collect/);
    if (listOf(Action).some((action) => action.startsWith("dynamodb:")))
      assert.deepEqual(Condition, { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["word-count"] } });
  }
});

test("one module is deployed under another name: ledger, rights, and what its functions run by", () => {
  const { pipeline, template } = stackOf({ pipelineName: "word-count-eu" });
  assert.equal(pipeline.pipelineName, "word-count-eu");
  for (const { Environment } of Object.values(functionsOf(template)))
    assert.equal(Environment.Variables.EPOCHFLOW_PIPELINE, "word-count-eu");
  const conditions = statementsOf(template).map(([, { Condition }]) => JSON.stringify(Condition ?? {}));
  const keys = conditions.filter((condition) => condition.includes("dynamodb:LeadingKeys"));
  assert.ok(keys.length > 0 && keys.every((key) => key.includes('["word-count-eu"]')), keys.join());
  assert.throws(() => stackOf({ pipelineName: "Word Count" }), { code: "invalid-name" });
});

test("the fused function may what the functions may whose steps it takes", () => {
  const rightsOf = (name: string) =>
    statementsOf(plain.template)
      .filter(([policy]) => policy.startsWith(`Words${name}Role`))
      .flatMap(([, { Action, Resource, Condition }]) =>
        listOf(Action).flatMap((action) =>
          listOf(Resource).map((resource) => JSON.stringify([action, resource, Condition])),
        ),
      )
      .filter((right) => !right.startsWith('["logs:'));
  const parts = ["Plan", "Operate", "Decide", "Commit", "Abort"].flatMap(rightsOf);
  assert.ok(parts.length > 30);
  assert.deepEqual([...new Set(rightsOf("Fused"))].sort(), [...new Set(parts)].sort());
});

test("every function has a role of its own, and one bundle", () => {
  const { template, pipeline } = plain;
  assert.deepEqual(Object.keys(pipeline.functions), names);
  const made = Object.values(functionsOf(template));
  assert.equal(made.length, names.length);
  assert.equal(new Set(made.map(({ Role }) => JSON.stringify(Role))).size, names.length);
  assert.equal(new Set(made.map(({ Code }) => JSON.stringify(Code))).size, 1);
  assert.ok(made.every(({ Architectures, VpcConfig }) => Architectures[0] === "arm64" && VpcConfig === undefined));
});

test("the heartbeat can be off", () => {
  const schedules = (template: Template) =>
    propertiesOf(template, "AWS::Events::Rule").filter(({ ScheduleExpression }) => ScheduleExpression);
  assert.equal(schedules(plain.template).length, 1);
  assert.equal(schedules(stackOf({ heartbeat: "off" }).template).length, 0);
});

test("a deployment wakes the pipeline, after all that it deploys", () => {
  const [wake] = Object.values(plain.template.findResources("Custom::Trigger"));
  assert.equal(wake?.Properties.InvocationType, "Event");
  const before = String(wake?.DependsOn);
  for (const name of [...names, "coordinator"])
    assert.match(before, new RegExp(`Words${name}`, "i"), `${name} is deployed before`);
});

test("an output tells a command where the pipeline is", () => {
  const outputs = Object.entries(plain.template.findOutputs("*"));
  const [[id, output] = []] = outputs.filter(([, { Description }]) => Description === "epochflow pipeline word-count");
  assert.match(id ?? "", /Pipeline$/);
  const parts: unknown[] = output?.Value["Fn::Join"][1] ?? [];
  const value = parts
    .map((part) => (typeof part === "string" ? part : JSON.stringify(part).replace(/\W/g, "")))
    .join("");
  const { pipeline, functions, sinks } = parseDeployedPipeline(value);
  assert.deepEqual([pipeline, sinks], ["word-count", { counts: "s3://data/output" }]);
  assert.match(functions.commit, /^RefWordsCommitFunction/);
});

test("the output of a pipeline in a nested stack is the outer stack's, whose name is known", () => {
  const outer = new Stack(quickApp(), "outer");
  const nested = new NestedStack(new NestedStack(outer, "Middle"), "Inner");
  new StreamPipeline(nested, "Words", { entry, parameters: paths });
  const described = (stack: Stack) =>
    Object.values(Template.fromStack(stack).findOutputs("*")).filter(({ Description }) => Description);
  assert.deepEqual(described(nested), []);
  const [output] = described(outer);
  assert.equal(output?.Description, "epochflow pipeline word-count");
  assert.match(JSON.stringify(output?.Value), /"Fn::GetAtt":\["Middle\w+","Outputs\.\w+CommitFunction/);
});

test("buckets of input and output may have a key, which is granted as the documentation says", () => {
  const { template } = synthesize(
    () => ({ entry, parameters: paths }),
    (pipeline, stack) => {
      const key = Key.fromKeyArn(stack, "Key", "arn:aws:kms:eu-west-1:111122223333:key/data");
      for (const each of Object.values(pipeline.functions)) key.grantEncryptDecrypt(each);
    },
  );
  const using = statementsOf(template).filter(([, { Action }]) => listOf(Action).includes("kms:Decrypt"));
  assert.equal(new Set(using.map(([policy]) => policy)).size, names.length);
});

test("a key encrypts bucket, table, queues and logs, and every function may use it", () => {
  const { app, template } = stackOf((stack) => ({ encryptionKey: new Key(stack, "Key", { enableKeyRotation: true }) }));
  const encrypts = (value: unknown) => assert.match(JSON.stringify(value), /Key[0-9A-F]{8}/);
  for (const { KmsMasterKeyId } of propertiesOf(template, "AWS::SQS::Queue")) encrypts(KmsMasterKeyId);
  for (const { KmsKeyId } of propertiesOf(template, "AWS::Logs::LogGroup")) encrypts(KmsKeyId);
  for (const { BucketEncryption } of propertiesOf(template, "AWS::S3::Bucket")) encrypts(BucketEncryption);
  for (const { Replicas } of propertiesOf(template, "AWS::DynamoDB::GlobalTable")) encrypts(Replicas);
  const using = statementsOf(template).filter(([, { Action }]) => listOf(Action).includes("kms:GenerateDataKey"));
  assert.equal(new Set(using.map(([policy]) => policy)).size, names.length);
  for (const [, { Action }] of statementsOf(template))
    assert.ok(
      listOf(Action).every((action) => !action.includes("*")),
      String(Action),
    );
  const [{ KeyPolicy } = {}] = propertiesOf(template, "AWS::KMS::Key");
  for (const part of ["logs.", "log-group:*", "events.amazonaws.com"])
    assert.ok(JSON.stringify(KeyPolicy).includes(part), part);
  assert.deepEqual(findings(app), []);
});

test("bucket and table may be there already, with keys of their own", () => {
  const { template } = stackOf((stack) => ({
    bucket: Bucket.fromBucketAttributes(stack, "Mine", {
      bucketName: "mine",
      encryptionKey: Key.fromKeyArn(stack, "Its", "arn:aws:kms:eu-west-1:111122223333:key/bucket"),
    }),
    table: TableV2.fromTableName(stack, "Ledger", "ledger"),
  }));
  template.resourceCountIs("AWS::S3::Bucket", 0);
  template.resourceCountIs("AWS::DynamoDB::GlobalTable", 0);
  const decrypting = statementsOf(template).filter(([, { Action }]) => listOf(Action).includes("kms:Decrypt"));
  assert.equal(decrypting.length, names.length);
  assert.ok(decrypting.every(([, { Resource }]) => Resource === "arn:aws:kms:eu-west-1:111122223333:key/bucket"));
});

test("a pipeline without Kafka may lie in a VPC too, with free endpoints", () => {
  const { template, pipeline } = stackOf((stack) => ({ vpc: new Vpc(stack, "Vpc") as IVpc, gatewayEndpoints: true }));
  const inVpc = Object.entries(functionsOf(template)).filter(([, { VpcConfig }]) => VpcConfig);
  assert.deepEqual(inVpc.map(([name]) => name).sort(), ["commit", "fused", "operate", "plan"]);
  const services = propertiesOf(template, "AWS::EC2::VPCEndpoint").map(({ ServiceName }) =>
    JSON.stringify(ServiceName),
  );
  assert.ok(services.length === 2 && /s3/.test(services.join()) && /dynamodb/.test(services.join()));
  assert.equal(pipeline.connections.securityGroups.length, 1);
  assert.throws(() => plain.pipeline.connections, { code: "missing-vpc" });
});

test("others are granted to read, and to wake, and no more", () => {
  const { template } = synthesize(
    () => ({ entry, parameters: paths }),
    (pipeline, stack) => {
      const role = new Role(stack, "Reader", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
      pipeline.grantRead(role);
      pipeline.grantWake(role);
    },
  );
  const granted = statementsOf(template).filter(([policy]) => policy.startsWith("Reader"));
  assert.deepEqual([...new Set(granted.flatMap(([, { Action }]) => listOf(Action)))].sort(), [
    "dynamodb:GetItem",
    "dynamodb:Query",
    "lambda:InvokeFunction",
    "s3:GetObject",
    "s3:ListBucket",
    "states:DescribeExecution",
  ]);
});

test("what is wrong fails at synth, by name", () => {
  assert.throws(() => stackOf({ parameters: { ...paths, inptu: "x" } }), { message: /Did you mean "input"/ });
  assert.throws(() => stackOf({ parameters: { ...paths, output: "out" } }), {
    code: "local-path",
    message: /sink counts of pipeline word-count is "out"/,
  });
  for (const wrong of [{ memory: 64 }, { memory: Number.NaN }, { fusedMemory: 20_000 }])
    assert.throws(() => stackOf(wrong), { message: /emory is .* from 128 to 10240/ });
  assert.throws(() => stackOf({ memroy: 512 } as never), { message: /Did you mean "memory"/ });
  assert.throws(() => stackOf({ policy: { intervalMs: 0 } }), { message: /intervalMs is 0/ });
  assert.throws(() => stackOf({ triggerTopics: ["lines"] }), { code: "unused-option", message: /triggerTopics/ });
  assert.throws(() => stackOf({ batchingWindow: Duration.seconds(1) }), { code: "unused-option" });
  for (const heartbeat of ["on", 5, null])
    assert.throws(() => stackOf({ heartbeat } as never), { code: "invalid-option", message: /^heartbeat is/ });
  for (const wrong of [undefined, 7])
    assert.throws(() => stackOf({ entry: wrong } as never), { code: "invalid-option", message: /as its entry/ });
  assert.throws(() => stackOf({ entry: "examples/word-cuont.ts" }), {
    code: "no-such-file",
    message: /Did you mean "examples\/word-count.ts"/,
  });
  assert.throws(() => stackOf({ entry: "examples" }), { code: "no-such-file" });
  assert.throws(() => stackOf((stack) => ({ encryptionKey: Alias.fromAliasName(stack, "Alias", "alias/mine") })), {
    code: "invalid-option",
    message: /encryptionKey is an alias/,
  });
  assert.throws(() => stackOf({ gatewayEndpoints: true }), { code: "missing-vpc", message: /gatewayEndpoints/ });
});

test("cdk-nag's AWS Solutions pass", () => {
  assert.deepEqual(findings(plain.app), []);
});
