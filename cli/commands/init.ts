import { displayPath } from "../../local/paths.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { olderNodeOfNpm, type TemplateName } from "../init/manifest.ts";
import { makeProject } from "../init/project.ts";
import { say, style } from "../report.ts";

export async function initCommand(folder: string, { template }: { template: TemplateName }): Promise<ExitCode> {
  const oldNode = process.env.EPOCHFLOW_MACHINE_NODE ?? olderNodeOfNpm(process.env.npm_config_user_agent);
  const made = makeProject(folder, template, oldNode);
  const shown = displayPath(made.folder);
  const lines = [`${style(["green", "bold"], "Made")} ${made.files.join(", ")}${shown === "." ? "" : ` in ${shown}`}.`];
  if (made.completed) lines.push("The package.json that was there has got scripts and packages; what it had stays.");
  if (oldNode !== undefined)
    lines.push(`This machine has Node ${oldNode}: the project brings Node 24, which its npm scripts use.`);
  const steps = [...(shown === "." ? [] : [`cd ${shown}`]), "npm install", "npm test", "npm start"];
  lines.push("Next:", ...steps.map((step) => `  ${step}`));
  say(lines.join("\n"));
  return exitCodes.done;
}
