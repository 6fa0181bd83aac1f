import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { folderOf } from "../test/support/folder.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

type Context = Readonly<Record<string, string>>;

/** What the app makes of a context, as the CDK's command has it made, but without bundles. What breaks one of CloudFormation's rules is an error. */
async function synth(out: string, context: Context): Promise<Record<string, { Type: string }>> {
  await promisify(execFile)(process.execPath, ["--conditions=epochflow-source", "infra/app.ts"], {
    cwd: root,
    env: {
      ...process.env,
      CDK_OUTDIR: out,
      CDK_CONTEXT_JSON: JSON.stringify({
        "aws:cdk:bundling-stacks": [],
        "@aws-cdk/core:validateAgainstDefaultRules": true,
        ...context,
      }),
      // What stands for a VPC until it is looked up is no VPC's id.
      CDK_VALIDATION: String(!("vpcId" in context)),
      CDK_DEFAULT_ACCOUNT: "111122223333",
      CDK_DEFAULT_REGION: "eu-west-1",
    },
  });
  const { artifacts } = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"));
  const stacks = Object.keys(artifacts).filter((name) => artifacts[name].type === "aws:cloudformation:stack");
  assert.equal(stacks.length, 1, "`cdk deploy` needs no name");
  return JSON.parse(readFileSync(join(out, `${stacks[0]}.template.json`), "utf8")).Resources;
}

const contexts: readonly [what: string, context: Context, mappings: number][] = [
  ["word-count", {}, 0],
  ["access-log", { example: "access-log" }, 0],
  ["orders", { example: "orders" }, 0],
  ["word-count-kafka", { bootstrapServers: "b-1:9092", vpcId: "vpc-1" }, 1],
];
for (const [what, context, mappings] of contexts)
  test(`the app deploys ${what}`, async (test) => {
    const resources = Object.values(await synth(join(folderOf(test), "out"), context));
    const count = (type: string, what = "") =>
      resources.filter((one) => one.Type === type && JSON.stringify(one).includes(what)).length;
    assert.equal(count("AWS::StepFunctions::StateMachine"), 1);
    assert.equal(count("AWS::Lambda::EventSourceMapping", "TRIM_HORIZON"), mappings);
  });

test("an example that there is not is refused", async (test) => {
  await assert.rejects(
    synth(join(folderOf(test), "out"), { example: "words" }),
    /"words", but must be one of word-count/,
  );
});
