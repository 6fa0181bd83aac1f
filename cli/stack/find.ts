import { CloudFormationClient, DescribeStacksCommand, type Stack } from "@aws-sdk/client-cloudformation";
import {
  type DeployedPipeline,
  outputDescription,
  parseDeployedPipeline,
} from "../../composition/deployed-pipeline.ts";
import { awsError, nameOf } from "../../shared/adapters/aws/errors.ts";
import { type EpochflowError, InfrastructureError, UsageError } from "../../shared/errors.ts";
import { didYouMean } from "../../shared/options.ts";
import type { OfStack } from "../stack-options.ts";
import { settingsFor } from "./clients.ts";

/**
 * What a stack tells of the pipeline that is meant.
 *
 * @throws UsageError `no-region`, `no-credentials`, `no-stack`, `no-pipeline-in-stack`, `which-pipeline`; InfrastructureError as `awsError` has them
 */
export async function findDeployed(options: OfStack): Promise<DeployedPipeline> {
  const client = new CloudFormationClient(settingsFor(options));
  try {
    return pick(await describe(client, options), options);
  } finally {
    client.destroy();
  }
}

async function describe(client: CloudFormationClient, options: OfStack): Promise<Stack> {
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: options.stack }));
    return Stacks![0]!;
  } catch (error) {
    if (nameOf(error) === "ValidationError" && /does not exist/.test(String(error)))
      throw await noStack(client, options);
    throw await explain(error, client, options);
  }
}

/** What keeps a command from AWS at all comes up here, at its first request. */
async function explain(error: unknown, client: CloudFormationClient, options: OfStack): Promise<EpochflowError> {
  const name = nameOf(error);
  const text = error instanceof Error ? error.message : String(error);
  if (/^Region (is missing|not accepted: region="")/.test(text))
    return new UsageError("no-region", "No region is set, so there is nowhere to look for the stack", {
      wayOut: "Add --region, as in --region eu-west-1; or set AWS_REGION, or the region of the profile.",
    });
  if (/^Region not accepted/.test(text))
    return new UsageError("no-region", text, { wayOut: "Regions have names like eu-west-1." });
  if (/CredentialsProviderError|TokenProviderError/.test(name))
    return new UsageError("no-credentials", `There are no credentials for AWS${ofProfile(options)}: ${text}`, {
      wayOut:
        "Sign in (`aws sso login`, `aws configure`), name a profile that has some by --profile, or set AWS_PROFILE.",
    });
  const region = await client.config.region();
  if (name === "ENOTFOUND")
    return new InfrastructureError(
      "unreachable",
      `CloudFormation in the region ${region} cannot be reached (${name})`,
      {
        wayOut: "Check the region's name, and the network.",
        cause: error,
      },
    );
  return awsError(error, `look up the stack ${options.stack} in ${region}`, "cloudformation:DescribeStacks");
}

function ofProfile({ profile }: OfStack): string {
  return profile === undefined ? "" : ` in the profile ${profile}`;
}

async function noStack(client: CloudFormationClient, { stack }: OfStack): Promise<UsageError> {
  const region = await client.config.region();
  const stacks = await others(client);
  const names = stacks.filter((one) => pipelineOutputs(one).length > 0).map(({ StackName = "" }) => StackName);
  const known = names.length === 0 ? "" : ` Stacks with pipelines there: ${names.sort().join(", ")}.`;
  const meant = didYouMean(
    stack,
    stacks.map(({ StackName = "" }) => StackName),
  );
  return new UsageError("no-stack", `There is no stack ${stack} in ${region}.${meant}`, {
    wayOut: `Check the name, and --region and --profile: \`npx cdk list\` names an app's stacks.${known}`,
  });
}

/** To name the right one is a courtesy, for which somebody may lack the right. */
async function others(client: CloudFormationClient): Promise<Stack[]> {
  try {
    return (await client.send(new DescribeStacksCommand({}))).Stacks ?? [];
  } catch {
    return [];
  }
}

function pipelineOutputs({ Outputs = [] }: Stack): string[] {
  const ours = Outputs.filter(({ Description = "" }) => Description.startsWith(outputDescription("")));
  return ours.map(({ OutputValue = "" }) => OutputValue);
}

function pick(found: Stack, { stack, pipeline }: OfStack): DeployedPipeline {
  const all = pipelineOutputs(found).map(parseDeployedPipeline);
  const names = all.map((one) => one.pipeline).sort();
  if (all.length === 0) {
    throw new UsageError("no-pipeline-in-stack", `The stack ${stack} (${found.StackStatus}) tells of no pipeline`, {
      wayOut: /IN_PROGRESS$/.test(found.StackStatus ?? "")
        ? "Wait until it is deployed."
        : "Name the stack in which `StreamPipeline` is; if it is this one, deploy it with this version of epochflow.",
    });
  }
  const chosen = pipeline === undefined && all.length === 1 ? all[0] : all.find((one) => one.pipeline === pipeline);
  if (chosen !== undefined) return chosen;
  const message =
    pipeline === undefined
      ? `The stack ${stack} has ${all.length} pipelines: which one?`
      : `The stack ${stack} has no pipeline "${pipeline}".${didYouMean(pipeline, names)}`;
  throw new UsageError("which-pipeline", message, {
    wayOut: `Add one of: ${names.map((name) => `--pipeline ${name}`).join(", ")}`,
  });
}
