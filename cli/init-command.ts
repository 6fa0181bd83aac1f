import { Option } from "commander";
import { type Add, teach } from "./command-options.ts";

export const addInit: Add = (program, exit) => {
  const command = program
    .command("init")
    .summary("make a new project: a pipeline, its test, a CDK app")
    .description(
      "Makes a project that runs as it is: a pipeline, a test, a CDK app, scripts, a README. `npm start` runs the pipeline on data that it makes (files), or on the brokers at " +
        "localhost:9092 (kafka). Overwrites nothing.",
    )
    .argument("[folder]", "new, or without such files", ".")
    .addOption(
      new Option("--template <name>", "what the pipeline reads and writes")
        .choices(["files", "kafka"])
        .default("files"),
    )
    .action(async (folder, options) => exit(await (await import("./commands/init.ts")).initCommand(folder, options)));
  teach(command, ["epochflow init my-pipeline", "epochflow init my-pipeline --template kafka"]);
};
