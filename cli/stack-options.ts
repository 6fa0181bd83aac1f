import { UsageError } from "../shared/errors.ts";

/** Options that name a pipeline that a stack of CloudFormation has deployed. */
export interface StackOptions {
  readonly stack?: string;
  /** Needed where the stack has several. */
  readonly pipeline?: string;
  readonly profile?: string;
  readonly region?: string;
}

export type OfStack = StackOptions & Required<Pick<StackOptions, "stack">>;

const names = ["stack", "pipeline", "region", "profile"] as const;

/** ` --stack words --region eu-west-1`: what was given of them. */
export function flagsOf(options: StackOptions): string {
  return names.map((name) => (options[name] === undefined ? "" : ` --${name} ${options[name]}`)).join("");
}

/** Options that only a pipeline on this machine has. */
type Local = Readonly<Partial<Record<"state" | "set" | "name", unknown>>>;

/**
 * Whether a deployed pipeline is meant.
 *
 * @param local the argument that names a pipeline or a folder of this machine
 * @throws UsageError `conflicting-options` where both are; `stack-needed` for options that say where a stack is, without the stack
 */
export function isOfStack<Given extends StackOptions & Local>(
  local: string | undefined,
  options: Given,
): options is Given & OfStack {
  const { stack, state, set, name } = options;
  if (stack === undefined) {
    const lonely = names.find((name) => options[name] !== undefined);
    if (lonely === undefined) return false;
    throw new UsageError("stack-needed", `--${lonely} says which deployed pipeline is meant, but there is no --stack`, {
      wayOut: "Add --stack NAME, the stack that the pipeline was deployed with.",
    });
  }
  if (local !== undefined) {
    throw conflict(stack, `"${local}"`, `Leave it out; of a stack with several pipelines --pipeline NAME picks one.`);
  }
  if (state !== undefined) throw conflict(stack, "--state", "Leave one of the two out.");
  if (name !== undefined)
    throw conflict(stack, "--name", "Of a stack with several pipelines --pipeline NAME picks one.");
  if (set !== undefined) throw conflict(stack, "--set", "Leave it out: what is deployed has its parameters.");
  return true;
}

function conflict(stack: string, other: string, wayOut: string): UsageError {
  const message = `--stack ${stack} names a deployed pipeline, and ${other} one on this machine`;
  return new UsageError("conflicting-options", message, { wayOut });
}
