import { Option } from "commander";
import { parseTime } from "./arguments.ts";
import { type Add, parameterOption, teach } from "./command-options.ts";

export const addReplay: Add = (program, exit) => {
  const command = program
    .command("replay")
    .summary("put the records of dead letters back, once the pipeline is mended")
    .description(
      "Takes the dead letters of a pipeline, and puts the records that they are of back: into the topics that they came from, with key, value, headers and time as they were, or as lines " +
        "into the folder that they came from. Each record is put back once, however often this is interrupted, killed or run again. Asks first.",
    )
    .argument("<from>", "the pipeline's module; or the folder of a dead-letter sink, or topic:NAME")
    .option("--to <target>", "a folder, or topic:NAME (default: where the pipeline reads)")
    .addOption(parameterOption())
    .option("--brokers <list>", "of topics, where no pipeline says how to reach them: HOST:PORT")
    .option("--operator <id>", "only what this operator failed on")
    .option("--error <text>", "only letters whose error has this in it")
    .addOption(
      new Option(
        "--since <time>",
        "only records of this time or later: 2026-01-31T12:00Z, or 2h for the last two hours",
      ).argParser((text) => parseTime("--since", text, Date.now())),
    )
    .option("--state <folder>", "where it is remembered what was put back (default: .epochflow/replays)")
    .option("--dry-run", "show what would be put back, and change nothing")
    .option("--yes", "do not ask")
    .option("--json", "the result as JSON on standard output")
    .action(async (from, options) => exit(await (await import("./commands/replay.ts")).replayCommand(from, options)));
  const notes = `A record that was put back has a header epochflow.replays, which counts how
often; a file's name says so. One that fails again is a new dead letter, and may
be put back again. Windows do not wait: a record that comes back after its
window is gone is late.`;
  teach(
    command,
    [
      "epochflow replay orders.ts --dry-run",
      "epochflow replay orders.ts --set brokers=localhost:9092 --operator parse --since 2h",
      "epochflow replay out/dead-letters --to again",
      "epochflow replay topic:orders-dead --to topic:orders --brokers localhost:9092 --yes",
    ],
    notes,
  );
};
