import { check } from "../../local/check/check.ts";
import type { CheckedTopic } from "../../local/check/report.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { formatCounted } from "../format.ts";
import { write, writeJson } from "../output.ts";
import { formatError, style } from "../report.ts";

interface CheckCommandOptions {
  readonly set?: Record<string, string>;
  readonly name?: string;
  readonly state?: string;
  readonly samples: number;
  readonly json?: true;
}

export async function checkCommand(module: string, options: CheckCommandOptions): Promise<ExitCode> {
  const { set = {}, name, state, samples } = options;
  const topics = await check(module, { parameters: set, name, state, samples });
  const findings = topics.flatMap((one) => one.findings);
  const errors = findings.filter(({ level }) => level === "error").length;
  const warnings = findings.length - errors;
  if (options.json) await writeJson({ errors, warnings, topics: topics.map(flat) });
  else await write(`${[...topics.map(format), verdict(errors, warnings)].join("\n")}\n`);
  return errors === 0 ? exitCodes.done : exitCodes.failed;
}

const flat = ({ topic, notes, findings }: CheckedTopic) => ({
  ...{ topic, notes },
  findings: findings.map(({ level, error }) => ({ level, ...error })),
});

function format({ topic, notes, findings }: CheckedTopic): string {
  const isBad = findings.some(({ level }) => level === "error");
  const isLeftOut = notes.length > 0 && notes.every((note) => note.includes("not checked"));
  const mark = isBad
    ? style("red", "✗")
    : findings.length > 0
      ? style("yellow", "!")
      : isLeftOut
        ? "-"
        : style("green", "✓");
  const width = 12;
  const lines = [`${mark} ${topic.padEnd(width)}${notes.join(`\n${" ".repeat(width + 2)}`)}`.trimEnd()];
  for (const { level, error } of findings) {
    const text = formatError(error);
    lines.push(indent(level === "error" ? text : text.replace("error:", "warning:")));
  }
  return lines.join("\n");
}

const indent = (text: string) => text.replace(/^/gm, "  ");

function verdict(errors: number, warnings: number): string {
  const told = [
    errors > 0 ? formatCounted(errors, "error") : "",
    warnings > 0 ? formatCounted(warnings, "warning") : "",
  ];
  const counts = told.filter((text) => text !== "").join(", ");
  return `\n${counts === "" ? "Nothing is wrong." : counts}`;
}
