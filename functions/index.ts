import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type AbandonInput, abandonStep } from "./abandon.ts";
import { abortStep } from "./abort.ts";
import { collectStep } from "./collect.ts";
import { type CommitInput, commitStep } from "./commit.ts";
import { decideStep } from "./decide.ts";
import { type Deployment, deploymentOf } from "./deployment.ts";
import { fusedStep } from "./fused.ts";
import { handlerOf, type Step } from "./handler.ts";
import { operateStep } from "./operate.ts";
import { planStep } from "./plan.ts";
import { triggerStep } from "./trigger.ts";
import type { TriggerEvent } from "./wake-up.ts";

/**
 * The Lambda handlers of a pipeline, by the names of the functions. The construct bundles them with the pipeline in one file, which all functions share, so that the
 * digest of that file is the digest of the code (protocol §5).
 *
 * @param bundle `import.meta.url` of the bundle
 */
export function functionsOf(definition: unknown, bundle: string) {
  const codeDigest = createHash("sha256")
    .update(readFileSync(fileURLToPath(bundle)))
    .digest("hex");
  return handlersOf(deploymentOf(definition, codeDigest, process.env));
}

export function handlersOf(deployment: Deployment) {
  const handler = <Input extends object, Answer>(name: string, step: Step<Input, Answer>) =>
    handlerOf(name, deployment, async (input: Input, call) => await step(await deployment.engine(), input, call));
  return {
    trigger: handlerOf("trigger", deployment, async (event: TriggerEvent, call) =>
      triggerStep(await deployment.awakener(), event, call),
    ),
    plan: handler("plan", planStep),
    fused: handler("fused", fusedStep),
    operate: handler("operate", operateStep),
    decide: handler("decide", decideStep),
    commit: handler("commit", async (engine, input: CommitInput | AbandonInput, call) =>
      "abandon" in input ? await abandonStep(engine, input) : await commitStep(engine, input, call),
    ),
    abort: handler("abort", abortStep),
    collect: handler("collect", collectStep),
  };
}
