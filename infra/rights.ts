import { ArnFormat, Stack } from "aws-cdk-lib";
import { Grant, type IGrantable, PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
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
  /** Why there is a `*` in its resources; by default that of objects and executions. */
  readonly reason?: string;
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

const namedAsTheyCome = "Objects and executions are named as they come, by a prefix of this pipeline alone.";

export function allow(role: Role, { actions, resources, conditions, reason = namedAsTheyCome }: Right): void {
  role.addToPolicy(
    new PolicyStatement({ actions: [...actions], resources: [...resources], ...(conditions && { conditions }) }),
  );
  acknowledgeWildcards(role, resources, reason);
}

export function grant(grantee: IGrantable, rights: readonly Right[]): Grant {
  return rights
    .map(({ actions, resources, conditions }) =>
      Grant.addToPrincipal({
        ...{ grantee, actions: [...actions], resourceArns: [...resources] },
        ...(conditions && { conditions }),
      }),
    )
    .reduce((all, one) => all.combine(one));
}

/** To look at the ledger, at what lies in objects since it is too long for it, and at the files that are output. */
export function readRights(
  scope: Construct,
  { name, sinks }: Topology,
  places: Omit<Places, "stateMachineArn">,
): Right[] {
  const files = [
    { bucketArn: places.bucketArn, prefix: `${name}/` },
    ...placesIn(scope, Object.values(sinks)).map(({ bucketArn, prefix }) => ({ bucketArn, prefix: folderOf(prefix) })),
  ];
  return [
    ledgerRight(["GetItem", "Query"], name, places),
    ...files.flatMap(({ bucketArn, prefix }) => [
      { actions: ["s3:GetObject"], resources: [`${bucketArn}/${prefix}*`] },
      listing(bucketArn, prefix),
    ]),
  ];
}

/**
 * Lambda's own, to put a function, or pollers for one, into a VPC; it asks for them with the role of the function.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions
 */
export const networkRight = (): Right => ({
  actions: ["CreateNetworkInterface", "DeleteNetworkInterface", "DescribeNetworkInterfaces"]
    .concat("DescribeSubnets", "DescribeVpcs", "DescribeSecurityGroups")
    .concat("AssignPrivateIpAddresses", "UnassignPrivateIpAddresses")
    .map((action) => `ec2:${action}`),
  resources: ["*"],
  reason:
    "Lambda makes network interfaces with the function's role, before they have a name, and looks at what is in the VPC.",
});

function ledgerRights(name: FunctionName, topology: Topology, places: Places): Right[] {
  const deletes = name === "collect" ? ["BatchWriteItem"] : [];
  return [ledgerRight(["GetItem", "Query", "PutItem", "ConditionCheckItem", ...deletes], topology.name, places)];
}

const ledgerRight = (actions: readonly string[], pipeline: string, { tableArn }: Pick<Places, "tableArn">): Right => ({
  actions: actions.map((action) => `dynamodb:${action}`),
  resources: [tableArn],
  conditions: { "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": [pipeline] } },
});

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
  if (node?.kind !== "source" || !["plan", "fused", "operate"].includes(name)) return [];
  return placesIn(scope, [node.source]).flatMap(({ bucketArn, prefix }) => [
    { actions: ["s3:GetObject"], resources: [`${bucketArn}/${prefix}*`] },
    listing(bucketArn, prefix),
  ]);
}

/** Files that are uploads until their commit. Old manifests, and small files that were merged, are deleted by `collect` alone. */
function outputRights(scope: Construct, name: FunctionName, { sinks }: Topology): Right[] {
  if (name === "trigger" || name === "decide") return [];
  return placesIn(scope, Object.values(sinks)).flatMap(({ bucketArn, prefix }) => {
    const folder = folderOf(prefix);
    const all = [`${bucketArn}/${folder}*`];
    const rights: Right[] = [
      { actions: ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"], resources: all },
      listing(bucketArn, folder),
    ];
    // Whoever opens the sink looks whether the bucket would end its uploads.
    if (name === "plan" || name === "commit" || name === "fused")
      rights.push({ actions: ["s3:GetLifecycleConfiguration"], resources: [bucketArn] });
    if (name === "collect")
      rights.push(
        { actions: ["s3:ListBucketMultipartUploads"], resources: [bucketArn] },
        { actions: ["s3:DeleteObject"], resources: all },
      );
    return rights;
  });
}

const folderOf = (prefix: string): string => (prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`);

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
