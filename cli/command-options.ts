import { type Command, Option } from "commander";
import { parseDuration, parseParameter, parseWholeNumber } from "./arguments.ts";
import type { ExitCode } from "./exit-codes.ts";

/** Adds a command to the program; `exit` takes its exit code. */
export type Add = (program: Command, exit: (code: ExitCode) => void) => void;

/** How every command but `run` finds the state that it is about. */
export function ofState(command: Command): Command {
  return command
    .argument("[pipeline]", "its module or its name; not needed where .epochflow holds one state only")
    .addOption(nameOption())
    .addOption(stateOption());
}

/** A pipeline on AWS instead of one on this machine. */
export function ofStack(command: Command): Command {
  return command
    .addOption(stackOption("--stack <name>", "stack of CloudFormation that the pipeline was deployed with"))
    .addOption(stackOption("--pipeline <name>", "which one, of a stack with several"))
    .addOption(stackOption("--region <name>", "region of the stack (default: as the AWS CLI finds it)"))
    .addOption(stackOption("--profile <name>", "profile with the credentials (default: as the AWS CLI finds them)"));
}

export function stackOption(flags: string, description: string): Option {
  return new Option(flags, description).helpGroup("Deployed on AWS:");
}

export function stateOption(): Option {
  return new Option("--state <folder>", "folder of the state (default: .epochflow/<name of the pipeline>)");
}

export function parameterOption(): Option {
  const option = new Option("--set <name=value>", "value of one of the pipeline's parameters; may be repeated");
  return option.argParser(parseParameter);
}

/** One module that was run under several names. */
export function nameOption(): Option {
  return new Option("--name <name>", "the pipeline's name, where it is not the one in its module");
}

export function numberOption(flag: string, description: string, least = 1): Option {
  return new Option(`${flag} <n>`, description).argParser((text) => parseWholeNumber(flag, text, least));
}

export function durationOption(flag: string, description: string, byDefault: string): Option {
  const option = new Option(`${flag} <duration>`, `${description} (default: ${byDefault})`);
  return option.argParser((text) => parseDuration(flag, text));
}

/** Without a choice it is the first, or `byDefault`. */
export function choiceOption<Choice extends string>(
  flag: string,
  description: string,
  choices: readonly Choice[],
  byDefault: Choice = choices[0]!,
): Option {
  return new Option(`${flag} <${choices.join("|")}>`, description).choices(choices).default(byDefault);
}

/** Below the options: examples, then whatever else is good to know. */
export function teach(command: Command, examples: readonly string[], ...notes: readonly string[]): Command {
  const lines = ["Examples:", ...examples.map((example) => `  $ ${example}`)].join("\n");
  return command.addHelpText("after", `\n${[lines, ...notes].join("\n\n")}`);
}
