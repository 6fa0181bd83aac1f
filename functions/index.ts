import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { abortHandler } from "./abort.ts";
import { collectHandler } from "./collect.ts";
import { commitHandler } from "./commit.ts";
import { decideHandler } from "./decide.ts";
import { type Deployment, deploymentOf } from "./deployment.ts";
import { operateHandler } from "./operate.ts";
import { planHandler } from "./plan.ts";
import { triggerHandler } from "./trigger.ts";

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
  return {
    trigger: triggerHandler(deployment),
    plan: planHandler(deployment),
    operate: operateHandler(deployment),
    decide: decideHandler(deployment),
    commit: commitHandler(deployment),
    abort: abortHandler(deployment),
    collect: collectHandler(deployment),
  };
}
