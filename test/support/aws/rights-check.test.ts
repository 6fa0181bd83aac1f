import assert from "node:assert/strict";
import { test } from "node:test";
import type { AwsRequest } from "../emulator/aws-answers.ts";
import { needsOf } from "./needs.ts";
import type { PipelineParts } from "./pipeline-stack.ts";
import { RightsCheck } from "./rights-check.ts";

const request = (method: string, url: string, more: Partial<AwsRequest> = {}): AwsRequest => ({
  ...{ method, url, headers: {}, body: Buffer.alloc(0) },
  ...more,
});
const operation = (target: string, input: object): AwsRequest =>
  request("POST", "/", { headers: { "x-amz-target": target }, body: Buffer.from(JSON.stringify(input)) });
const onTable = (name: string, input: object) => operation(`DynamoDB_20120810.${name}`, input);
const needs = (asked: AwsRequest) =>
  needsOf(asked).map(({ action, resource, keys }) => [
    action,
    resource.split(":").at(-1),
    ...Object.values(keys).flat(),
  ]);

const [mine, theirs] = [{ pk: { S: "mine" } }, { pk: { S: "theirs" } }];

test("requests to tables need rights by item", () => {
  const get = { TableName: "t", Key: mine };
  assert.deepEqual(needs(onTable("GetItem", get)), [["dynamodb:GetItem", "table/t", "mine"]]);
  const query = { KeyConditionExpression: "pk = :p AND sk > :s", ExpressionAttributeValues: { ":p": { S: "mine" } } };
  assert.deepEqual(needs(onTable("Query", { TableName: "t", ...query })), [["dynamodb:Query", "table/t", "mine"]]);
  const TransactItems = [{ Put: { TableName: "t", Item: mine } }, { ConditionCheck: { TableName: "t", Key: theirs } }];
  assert.deepEqual(needs(onTable("TransactWriteItems", { TransactItems })), [
    ["dynamodb:PutItem", "table/t", "mine"],
    ["dynamodb:ConditionCheckItem", "table/t", "theirs"],
  ]);
  assert.deepEqual(needs(onTable("TransactGetItems", { TransactItems: [{ Get: get }] })), [
    ["dynamodb:GetItem", "table/t", "mine"],
  ]);
  const RequestItems = { t: [{ DeleteRequest: { Key: mine } }, { PutRequest: { Item: theirs } }] };
  assert.deepEqual(needs(onTable("BatchWriteItem", { RequestItems })), [
    ["dynamodb:BatchWriteItem", "table/t", "mine"],
    ["dynamodb:BatchWriteItem", "table/t", "theirs"],
  ]);
});

test("requests to buckets need rights by what the path and the query say", () => {
  const cases: [asked: AwsRequest, ...needs: string[][]][] = [
    [request("GET", "/b?list-type=2&prefix=a%2F"), ["s3:ListBucket", "b", "a/"]],
    [request("GET", "/b?uploads&prefix=a"), ["s3:ListBucketMultipartUploads", "b"]],
    [request("GET", "/b?lifecycle"), ["s3:GetLifecycleConfiguration", "b"]],
    [request("HEAD", "/b/a/%20c"), ["s3:GetObject", "b/a/ c"], ["s3:ListBucket", "b", "a/ c"]],
    [request("GET", "/b/a?versionId=1"), ["s3:GetObjectVersion", "b/a"], ["s3:ListBucket", "b", "a"]],
    [request("PUT", "/b/a?x-id=PutObject"), ["s3:PutObject", "b/a"]],
    [request("PUT", "/b/a", { headers: { "if-match": "1" } }), ["s3:PutObject", "b/a"], ["s3:GetObject", "b/a"]],
    [request("POST", "/b/a?uploadId=1"), ["s3:PutObject", "b/a"]],
    [request("DELETE", "/b/a?uploadId=1"), ["s3:AbortMultipartUpload", "b/a"]],
    [request("DELETE", "/b/a"), ["s3:DeleteObject", "b/a"]],
    [
      request("POST", "/b?delete", { body: Buffer.from("<Object><Key>a</Key></Object><Object><Key>c</Key></Object>") }),
      ["s3:DeleteObject", "b/a"],
      ["s3:DeleteObject", "b/c"],
    ],
    [request("GET", "/b?acl"), ["unknown", "GET /b?acl undefined"]],
    [request("PUT", "/b/a?tagging"), ["unknown", "PUT /b/a?tagging undefined"]],
  ];
  for (const [asked, ...expected] of cases) assert.deepEqual(needs(asked), expected, asked.url);
});

test("other requests need a right to what they name", () => {
  const start = operation("AWSStepFunctions.StartExecution", { stateMachineArn: "arn:m", input: "{}" });
  assert.deepEqual(needs(start), [["states:StartExecution", "m"]]);
  const describe = operation("AWSStepFunctions.DescribeExecution", { executionArn: "arn:e" });
  assert.deepEqual(needs(describe), [["states:DescribeExecution", "e"]]);
  const secret = operation("secretsmanager.GetSecretValue", { SecretId: "arn:s" });
  assert.deepEqual(needs(secret), [["secretsmanager:GetSecretValue", "s"]]);
  assert.deepEqual(needs(onTable("Scan", { TableName: "t" })), [["unknown", "Scan"]]);
});

/** Of a pipeline whose function `commit` has these statements, with requests that it makes. */
function checkOf(statements: readonly object[], ...requests: AwsRequest[]): RightsCheck {
  const template = {
    Resources: {
      Table: { Type: "AWS::DynamoDB::GlobalTable" },
      Bucket: { Type: "AWS::S3::Bucket" },
      Commit: {
        Type: "AWS::Lambda::Function",
        Properties: { Handler: "index.commit", Role: { "Fn::GetAtt": ["Role", "Arn"] } },
      },
      Policy: {
        Type: "AWS::IAM::Policy",
        Properties: {
          Roles: [{ Ref: "Role" }],
          PolicyDocument: { Statement: statements.map((one) => ({ Effect: "Allow", ...one })) },
        },
      },
      Other: {
        Type: "AWS::IAM::Policy",
        Properties: {
          Roles: [{ Ref: "OtherRole" }],
          PolicyDocument: { Statement: [{ Effect: "Allow", Action: "s3:PutObject", Resource: "*" }] },
        },
      },
    },
  };
  const check = new RightsCheck({ template, parts: { table: "t", bucket: "b" } as PipelineParts });
  for (const one of requests) check.record("commit", one);
  return check;
}

const arnOf = (id: string) => ({ "Fn::GetAtt": [id, "Arn"] });
const reads = { Action: ["s3:GetObject"], Resource: { "Fn::Join": ["", [arnOf("Bucket"), "/a/*"]] } };
const lists = {
  Action: "s3:ListBucket",
  Resource: [{ "Fn::Join": ["", ["arn:", { Ref: "AWS::Partition" }, ":s3:::b"]] }],
  Condition: { StringLike: { "s3:prefix": ["a/*"] } },
};
const ledger = {
  Action: ["dynamodb:GetItem"],
  Resource: arnOf("Table"),
  Condition: { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": ["mine"] } },
};
const logs = { Action: "logs:PutLogEvents", Resource: "*" };
const read = request("GET", "/b/a/1");
const look = onTable("GetItem", { TableName: "t", Key: mine });

test("a function has all rights that it needs, and needs all that it has", () => {
  const check = checkOf([reads, lists, ledger, logs], read, look);
  assert.deepEqual([check.missing(), check.unused()], [[], []]);
});

test("a right that a function lacks is missing", () => {
  assert.deepEqual(checkOf([reads, ledger], read, look).missing(), ["commit may not s3:ListBucket of arn:aws:s3:::b"]);
  const other = onTable("GetItem", { TableName: "t", Key: theirs });
  const foreign = [request("GET", "/b/c"), request("GET", "/b/aa/1"), request("PUT", "/b/a/1"), other];
  for (const one of foreign) assert.notDeepEqual(checkOf([reads, lists, ledger], one).missing(), [], one.url);
});

test("a right that nobody used is too much", () => {
  assert.deepEqual(checkOf([reads, lists, ledger], read).unused(), [
    "dynamodb:GetItem of arn:aws:dynamodb:us-east-1:000000000000:table/t",
  ]);
});

test("what is not known here is no right", () => {
  const condition = { ...reads, Condition: { Bool: { "aws:SecureTransport": "true" } } };
  assert.throws(() => checkOf([condition], read).missing(), /Bool/);
  assert.throws(() => checkOf([{ ...reads, Effect: "Deny" }], read).missing(), /Deny/);
});
