import { Option } from "commander";
import { parseWholeNumber } from "./arguments.ts";
import { type Add, nameOption, parameterOption, stateOption, teach } from "./command-options.ts";

export const addCheck: Add = (program, exit) => {
  const command = program
    .command("check")
    .summary("look for everything that would keep a pipeline from running well")
    .description(
      "Looks at types, module, parameters, connections, rights, topics and their limits, folders, disks, the state, and what the pipeline makes of the first records: all problems in one go, each with its " +
        "way out. It only reads. Exit code 0 without errors (there may be warnings), 1 with errors.",
    )
    .argument("<pipeline>", "module whose default export is the pipeline")
    .addOption(parameterOption())
    .addOption(nameOption())
    .addOption(stateOption())
    .addOption(
      new Option("--samples <n>", "unread records of each partition to try; 0 for none")
        .argParser((text) => parseWholeNumber("--samples", text, 0))
        .default(5),
    )
    .option("--json", "as JSON")
    .action(async (module, options) => exit(await (await import("./commands/check.ts")).checkCommand(module, options)));
  teach(command, [
    "epochflow check orders.ts --set input=orders.jsonl --set output=out",
    "epochflow check word-count-kafka.ts --set brokers=localhost:9092 --set input=lines --set output=counts --json",
  ]);
};
