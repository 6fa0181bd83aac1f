import { Duration, Stack } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type Architecture, Runtime, Tracing } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction, type NodejsFunctionProps } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Topology } from "../shared/pipeline/topology.ts";
import { acknowledgeWildcards } from "./acknowledged.ts";
import { type FunctionName, functionNames } from "./bundle.ts";
import { allow, type Places, rightsOf } from "./rights.ts";

export interface FunctionOptions {
  readonly topology: Topology;
  readonly places: Places;
  readonly bundle: NodejsFunctionProps;
  readonly environment: Readonly<Record<string, string>>;
  /** Of `trigger` alone, besides. */
  readonly triggerEnvironment: Readonly<Record<string, string>>;
  readonly memory: number;
  readonly architecture: Architecture;
  readonly logRetention: RetentionDays;
}

export type PipelineFunctions = Readonly<Record<FunctionName, NodejsFunction>>;

/** Those that touch records: they get the memory, and time up to the state machine's own time-outs. */
const working: ReadonlySet<FunctionName> = new Set(["operate", "commit", "collect"]);
const quickMemory = 512;

export function pipelineFunctions(scope: Construct, options: FunctionOptions): PipelineFunctions {
  const made = functionNames.map((name) => [name, pipelineFunction(scope, name, options)] as const);
  return Object.fromEntries(made) as unknown as PipelineFunctions;
}

/** A function with a role and a log group of its own. */
function pipelineFunction(parent: Construct, name: FunctionName, options: FunctionOptions): NodejsFunction {
  const scope = new Construct(parent, name.charAt(0).toUpperCase() + name.slice(1));
  const { topology, places, bundle, memory, architecture, logRetention } = options;
  const role = new Role(scope, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  acknowledgeWildcards(role, ["*"], "X-Ray knows no resources.");
  const logGroup = new LogGroup(scope, "Logs", { retention: logRetention });
  role.addToPolicy(
    new PolicyStatement({
      actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
      // A function's streams, whose names Lambda makes up.
      resources: [logGroup.logGroupArn],
    }),
  );
  for (const right of rightsOf(scope, name, topology, places)) allow(role, right);
  return new NodejsFunction(scope, "Function", {
    ...bundle,
    handler: name,
    runtime: Runtime.NODEJS_24_X,
    architecture,
    memorySize: working.has(name) ? memory : quickMemory,
    timeout: working.has(name) ? Duration.minutes(15) : Duration.minutes(1),
    tracing: Tracing.ACTIVE,
    role,
    logGroup,
    environment: { ...options.environment, ...(name === "trigger" && options.triggerEnvironment) },
    description: `${name} of the pipeline ${topology.name} (epochflow, ${Stack.of(scope).stackName})`,
  });
}
