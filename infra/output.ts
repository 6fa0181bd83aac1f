import { CfnOutput, Names, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { type DeployedPipeline, outputDescription, outputId } from "../composition/deployed-pipeline.ts";
import { isS3Path } from "../composition/s3-path.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import type { PipelineFunctions } from "./functions.ts";

/** Tells the command line, which knows the stack's name alone, where the pipeline is. In the outermost stack: a nested one has a name that CloudFormation makes up. */
export function pipelineOutput(
  scope: Construct,
  { name, sinks }: Topology,
  functions: PipelineFunctions,
  places: Pick<DeployedPipeline, "table" | "bucket" | "stateMachine">,
): CfnOutput {
  const { trigger, commit, collect } = functions;
  const deployed: DeployedPipeline = {
    pipeline: name,
    ...places,
    functions: {
      trigger: trigger.functionName,
      commit: commit.functionName,
      collect: collect.functionName,
    },
    sinks: Object.fromEntries(
      Object.entries(sinks).flatMap(([id, { options }]) => (isS3Path(options.path) ? [[id, options.path]] : [])),
    ),
  };
  const stack = outermost(Stack.of(scope));
  return new CfnOutput(stack, `${Names.uniqueId(scope)}${outputId}`, {
    value: stack.toJsonString(deployed),
    description: outputDescription(name),
  });
}

const outermost = (stack: Stack): Stack => (stack.nestedStackParent ? outermost(stack.nestedStackParent) : stack);
