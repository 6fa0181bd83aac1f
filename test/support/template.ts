import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { AwsSolutionsChecks } from "cdk-nag";
import { StreamPipeline, type StreamPipelineProps } from "../../infra/index.ts";

export interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: object;
}

/** Functions are not bundled, and CloudFormation's rules not looked at, which takes seconds: `infra/app.test.ts` does that. */
export const quickApp = (): App =>
  new App({ context: { "aws:cdk:bundling-stacks": [] }, builtinCloudFormationValidation: false });

/**
 * A stack with one pipeline; functions are not bundled.
 *
 * @param propsOf for what lies in the stack besides, such as a VPC
 * @param then with the pipeline, before the template is made
 */
export function synthesize(
  propsOf: (stack: Stack) => StreamPipelineProps,
  then: (pipeline: StreamPipeline, stack: Stack) => void = () => {},
) {
  const app = quickApp();
  const stack = new Stack(app, "stack");
  const pipeline = new StreamPipeline(stack, "Words", propsOf(stack));
  then(pipeline, stack);
  return { app, pipeline, template: Template.fromStack(stack) };
}

/** As the assertions of the CDK have them. */
export type Properties = ReturnType<Template["findResources"]>[string];

export const listOf = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

/** Properties of all resources of a type. */
export const propertiesOf = (template: Template, type: string): Properties[] =>
  Object.values(template.findResources(type)).map(({ Properties }) => Properties);

/** Statements by the logical id of the policy that holds them. */
export function statementsOf(template: Template): [policy: string, Statement][] {
  const policies = Object.entries(template.findResources("AWS::IAM::Policy"));
  return policies.flatMap(([id, { Properties }]) =>
    Properties.PolicyDocument.Statement.map((statement: Statement) => [id, statement]),
  );
}

/** Of the functions of the pipeline, by their names; there are others, of the CDK's custom resources. */
export function functionsOf(template: Template): Readonly<Record<string, Properties>> {
  const made = propertiesOf(template, "AWS::Lambda::Function").filter(({ Description }) =>
    /epochflow/.test(Description),
  );
  return Object.fromEntries(made.map((properties) => [properties.Handler.replace("index.", ""), properties]));
}

/** Findings of cdk-nag's AWS Solutions that nobody has acknowledged. */
export function findings(app: App): string[] {
  const { violations } = new AwsSolutionsChecks(app).validateScope(app);
  return violations.map(({ ruleName, violatingResources }) => `${ruleName} ${JSON.stringify(violatingResources)}`);
}
