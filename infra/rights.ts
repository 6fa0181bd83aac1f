import { ArnFormat, Stack } from "aws-cdk-lib";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";
import { isS3Path, parseS3Path } from "../composition/s3-path.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import { acknowledgeWildcards } from "./acknowledged.ts";
import type { FunctionName } from "./bundle.ts";

/** What a function may do; several statements make a role. */
export interface Right {
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Places {
  readonly tableArn: string;
  readonly bucketArn: string;
  readonly stateMachineArn: string;
}

/** The least that each function needs: the ledger by leading keys, buckets by prefix, and deletes of objects for `collect` alone. */
export function rightsOf(scope: Construct, name: FunctionName, topology: Topology, places: Places): Right[] {
  return [
    ...ledgerRights(name, topology, places),
    ...stateRights(name, topology, places),
    ...(name === "trigger" ? executionRights(scope, topology, places) : []),
    ...inputRights(scope, name, topology),
    ...outputRights(scope, name, topology),
  ];
}

export function allow(role: Role, { actions, resources, conditions }: Right): void {
  role.addToPolicy(
    new PolicyStatement({ actions: [...actions], resources: [...resources], ...(conditions && { conditions }) }),
  );
  acknowledgeWildcards(
    role,
    resources,
    "Objects and executions are named as they come, by a prefix of this pipeline alone.",
  );
}

function ledgerRights(name: FunctionName, topology: Topology, { tableArn }: Places): Right[] {
  const deletes = name === "collect" ? ["DeleteItem", "BatchWriteItem"] : [];
  return [
    {
      actions: ["GetItem", "Query", "PutItem", "ConditionCheckItem", ...deletes].map((action) => `dynamodb:${action}`),
      resources: [tableArn],
      conditions: { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": [topology.name] } },
    },
  ];
}

/** Snapshots, shuffled and staged records, and what is too long for the ledger. */
function stateRights(name: FunctionName, { name: pipeline }: Topology, { bucketArn }: Places): Right[] {
  const deletes = name === "collect" ? ["s3:DeleteObject"] : [];
  return [
    {
      actions: ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", ...deletes],
      resources: [`${bucketArn}/${pipeline}/*`],
    },
    listing(bucketArn, `${pipeline}/`),
  ];
}

function executionRights(scope: Construct, { name }: Topology, { stateMachineArn }: Places): Right[] {
  const { resourceName } = Stack.of(scope).splitArn(stateMachineArn, ArnFormat.COLON_RESOURCE_NAME);
  const executions = Stack.of(scope).formatArn({
    ...{ service: "states", resource: "execution", resourceName: `${resourceName}:${name}-*` },
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return [
    { actions: ["states:StartExecution"], resources: [stateMachineArn] },
    { actions: ["states:DescribeExecution"], resources: [executions] },
  ];
}

/** Where a pipeline reads from a bucket: a plan finds the objects, tasks read them. */
function inputRights(scope: Construct, name: FunctionName, { nodes: [node] }: Topology): Right[] {
  if (node?.kind !== "source" || (name !== "plan" && name !== "operate")) return [];
  return placesIn(scope, [node.source]).flatMap(({ bucketArn, prefix }) => [
    { actions: ["s3:GetObject", "s3:GetObjectVersion"], resources: [`${bucketArn}/${prefix}*`] },
    listing(bucketArn, prefix),
  ]);
}

/** Files that are uploads until their commit; only old manifests are deleted, once an index holds what they say. */
function outputRights(scope: Construct, name: FunctionName, { sinks }: Topology): Right[] {
  if (name === "trigger" || name === "decide") return [];
  return placesIn(scope, Object.values(sinks)).flatMap(({ bucketArn, prefix }) => {
    const folder = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
    const all = [`${bucketArn}/${folder}*`];
    const rights: Right[] = [
      { actions: ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"], resources: all },
      listing(bucketArn, folder),
    ];
    if (name === "plan") rights.push({ actions: ["s3:GetLifecycleConfiguration"], resources: [bucketArn] });
    if (name === "commit")
      rights.push({ actions: ["s3:DeleteObject"], resources: [`${bucketArn}/${folder}.epochflow/manifests/*`] });
    if (name === "collect") rights.push({ actions: ["s3:ListBucketMultipartUploads"], resources: [bucketArn] });
    return rights;
  });
}

type Described = { readonly options: Readonly<Record<string, unknown>> };

function placesIn(scope: Construct, described: readonly Described[]) {
  const paths = described.map(({ options }) => options.path).filter(isS3Path);
  return paths.map(parseS3Path).map(({ bucket, prefix }) => ({
    bucketArn: Stack.of(scope).formatArn({ service: "s3", region: "", account: "", resource: bucket }),
    prefix,
  }));
}

/** Without this right S3 says "forbidden" of an object that is not there. */
function listing(bucketArn: string, prefix: string): Right {
  const actions = ["s3:ListBucket"];
  return { actions, resources: [bucketArn], conditions: { StringLike: { "s3:prefix": [`${prefix}*`] } } };
}
