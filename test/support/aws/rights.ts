import type { FunctionName } from "../../../infra/bundle.ts";
import { anyAccount } from "../emulator/emulator.ts";
import type { Template } from "./deployment.ts";
import { account, bucketArn, type Need, tableArn } from "./needs.ts";
import type { PipelineParts } from "./pipeline-stack.ts";

/** One action on resources of one pattern: a statement of a policy has several. */
export interface Right {
  readonly action: string;
  readonly resource: string;
  /** By operator and key. */
  readonly conditions: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

/** As IAM decides. */
export function allows({ action, resource, conditions }: Right, need: Need): boolean {
  return (
    need.action === action && // no action of ours is a wildcard
    isLike(need.resource, resource) &&
    Object.entries(conditions).every(([operator, wanted]) =>
      Object.entries(wanted).every(([key, values]) => holds(operator, need.keys[key], values)),
    )
  );
}

/** @throws Error for an operator that our policies do not have */
function holds(operator: string, actual: readonly string[] | undefined, wanted: readonly string[]): boolean {
  switch (operator) {
    case "ForAllValues:StringEquals":
      return (actual ?? []).every((value) => wanted.includes(value));
    case "StringEquals":
      return (actual ?? []).some((value) => wanted.includes(value));
    case "StringLike":
      return (actual ?? []).some((value) => wanted.some((pattern) => isLike(value, pattern)));
    default:
      throw new Error(`what does ${operator} mean?`);
  }
}

function isLike(text: string, pattern: string): boolean {
  const expression = pattern
    .replace(/[^\w*?]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${expression}$`, "s").test(text);
}

/** Of the role of a deployed function. */
export function rightsOf(template: Template, name: FunctionName, parts: PipelineParts): Right[] {
  const resources = Object.values(template.Resources);
  const ofType = (type: string) => resources.filter(({ Type }) => Type === type).map(({ Properties }) => Properties!);
  const made = ofType("AWS::Lambda::Function").find(({ Handler }) => Handler === `index.${name}`)!;
  const role = (made.Role as GetAtt)["Fn::GetAtt"][0];
  const policies = ofType("AWS::IAM::Policy") as unknown as Policy[];
  return policies
    .filter(({ Roles }) => Roles.some(({ Ref }) => Ref === role))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement.flatMap((one) => rightsIn(one, template, parts)));
}

type Some<T> = T | readonly T[];
type GetAtt = { readonly "Fn::GetAtt": readonly [id: string, attribute: string] };
type Text = string | { readonly Ref: string } | GetAtt | { readonly "Fn::Join": readonly [string, readonly Text[]] };

interface Statement {
  readonly Effect: string;
  readonly Action: Some<string>;
  readonly Resource: Some<Text>;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, Some<Text>>>>>;
}

interface Policy {
  readonly Roles: readonly { readonly Ref: string }[];
  readonly PolicyDocument: { readonly Statement: readonly Statement[] };
}

function rightsIn({ Effect, Action, Resource, Condition = {} }: Statement, template: Template, parts: PipelineParts) {
  if (Effect !== "Allow") throw new Error(`what is ${Effect}?`);
  const textsOf = (some: Some<Text>) => [some].flat().map((text) => textOf(text as Text, template, parts));
  const conditions = mapValues(Condition, (wanted) => mapValues(wanted, textsOf));
  return [Action]
    .flat()
    .flatMap((action) =>
      textsOf(Resource).map((resource): Right => ({ action: action as string, resource, conditions })),
    );
}

/** As it is once the stack is deployed. */
function textOf(text: Text, template: Template, parts: PipelineParts): string {
  if (typeof text === "string") return text;
  if ("Fn::Join" in text) {
    const [separator, texts] = text["Fn::Join"];
    return texts.map((one) => textOf(one, template, parts)).join(separator);
  }
  if ("Ref" in text) return pseudoParameters[text.Ref] ?? `(${text.Ref})`;
  const [id] = text["Fn::GetAtt"];
  const { Type } = template.Resources[id]!;
  if (Type === "AWS::S3::Bucket") return bucketArn(parts.bucket);
  return Type.startsWith("AWS::DynamoDB::") ? tableArn(parts.table) : `(${id})`;
}

const pseudoParameters: Readonly<Record<string, string>> = {
  "AWS::Partition": "aws",
  "AWS::Region": anyAccount.region,
  "AWS::AccountId": account,
};

function mapValues<A, B>(object: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
