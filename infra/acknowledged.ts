import { Stack, Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

/** What the CDK gives its own functions for custom resources. */
export const basicExecutionRole =
  "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]";

/** Rules of cdk-nag's AWS Solutions that a part does not keep, and why. */
const reasons = {
  "AwsSolutions-S1":
    "Each access by an epoch would be a line of log, dearer than the epoch; CloudTrail can tell who reads.",
  "AwsSolutions-SF1":
    "Each step of each epoch would be a line of log. Errors are logged, every function logs its step, and the history is kept for 90 days.",
  [basicExecutionRole]:
    "The CDK's own function for custom resources, which all of them in a stack share: it may write its log.",
} as const;

export function acknowledge(scope: IConstruct, rule: keyof typeof reasons): void {
  Validations.of(scope).acknowledge({ id: rule, reason: reasons[rule] });
}

/** Rights with a `*` in their resources, one by one: any other in the same role is still a finding. */
export function acknowledgeWildcards(role: IConstruct, resources: readonly string[], reason: string): void {
  for (const resource of resources) {
    const finding = flatten(Stack.of(role).resolve(resource));
    if (finding.includes("*"))
      Validations.of(role).acknowledge({ id: `AwsSolutions-IAM5[Resource::${finding}]`, reason });
  }
}

type Reference = string | { readonly [name: string]: unknown };

/** A resource as cdk-nag writes it: `<Bucket.Arn>/words/*`. */
function flatten(value: Reference): string {
  if (typeof value === "string") return value;
  const [[name, argument] = []] = Object.entries(value);
  if (name === "Ref") return `<${argument}>`;
  if (name === "Fn::GetAtt") return `<${(argument as string[]).join(".")}>`;
  if (name !== "Fn::Join") return JSON.stringify(value);
  const [separator, parts] = argument as [string, Reference[]];
  return parts.map(flatten).join(separator);
}
