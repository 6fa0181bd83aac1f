import { Command, Option } from "commander";
import { engineVersion } from "../local/engine-version.ts";
import { logLevels } from "../local/watch/log.ts";
import { parseAddress, parsePort } from "./arguments.ts";
import { addCheck } from "./check-command.ts";
import {
  type Add,
  choiceOption,
  durationOption,
  nameOption,
  numberOption,
  ofStack,
  parameterOption,
  stackOption,
  stateOption,
  teach,
} from "./command-options.ts";
import { type ExitCode, exitCodesHelp } from "./exit-codes.ts";
import { addInit } from "./init-command.ts";
import { addReplay } from "./replay-command.ts";
import { addAbandon, addEpochs, addLag, addPauseAndResume, addReset, addStatus, addUi } from "./state-commands.ts";

/**
 * The command line as data. The code of a command is loaded when it is called, so that help comes at once.
 *
 * @param exit takes the exit code of the command that was called
 */
export function createProgram(exit: (code: ExitCode) => void): Command {
  const program = new Command("epochflow")
    .description("Processes streams exactly once: on this machine with Node alone, or on AWS.")
    .version(engineVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "explain a command")
    .helpCommand("help [command]", "explain a command");
  addInit(program, exit);
  addRun(program, exit);
  addRead(program, exit);
  addExplain(program, exit);
  addCheck(program, exit);
  addReplay(program, exit);
  addVerify(program, exit);
  addLag(program, exit);
  addStatus(program, exit);
  addEpochs(program, exit);
  addUi(program, exit);
  addPauseAndResume(program, exit);
  addAbandon(program, exit);
  addReset(program, exit);
  const environment = "Environment:\n  EPOCHFLOW_DEBUG=1  stack traces with errors\n  NO_COLOR=1         no colours";
  return teach(
    program,
    ["epochflow run examples/word-count.ts", "epochflow status --stack word-count"],
    exitCodesHelp,
    environment,
  );
}

const addRun: Add = (program, exit) => {
  const command = program
    .command("run")
    .summary("process the input of a pipeline until all of it is done")
    .description(
      "Processes the input of a pipeline, epoch by epoch, until all of it is done. However the process ends, the next run goes on " +
        "from the last epoch that was committed; nothing is lost, and nothing comes twice. New input is taken up by running again, or with --follow.",
    )
    .argument("<pipeline>", "module whose default export is the pipeline")
    .addOption(parameterOption())
    .addOption(nameOption())
    .addOption(stateOption())
    .addOption(numberOption("--epoch-records", "records an epoch takes, exactly"))
    .addOption(durationOption("--epoch-interval", "time an epoch should take, to which its size adapts", "1s"))
    .addOption(numberOption("--parallelism", "most tasks of a stage, and number of worker threads"))
    .addOption(durationOption("--task-timeout", "time after which a task counts as dead", "60s"))
    .option("--follow", "go on at the end of the input, until Ctrl-C: what comes in later is taken up")
    .addOption(
      durationOption(
        "--patience",
        "time for which a service may fail before the run gives up",
        "2m; no end with --follow",
      ),
    )
    .option("--hold", "leave windows open at the end of the input")
    .option("--wait", "wait while another process works on the same state")
    .option("--json", "print the result as JSON on standard output")
    .addOption(
      new Option(
        "--ui [port]",
        "serve a page that shows it while it runs (127.0.0.1, port 4040 or the next)",
      ).argParser((text) => parsePort("--ui", text)),
    )
    .addOption(
      new Option(
        "--metrics <[host:]port>",
        "serve metrics for Prometheus while it runs, at /metrics (host: 127.0.0.1)",
      ).argParser((text) => parseAddress("--metrics", text)),
    )
    .addOption(
      choiceOption("--log", "what happens, on standard error: a line each instead of the bar", ["off", "text", "json"]),
    )
    .addOption(choiceOption("--log-level", "the least important that is logged", logLevels, "info"))
    .action(async (module, options) => exit(await (await import("./commands/run.ts")).runCommand(module, options)));
  const examples = [
    "epochflow run access-log.ts --set input=access.log --set output=out",
    "epochflow run word-count-kafka.ts --set brokers=localhost:9092 --set input=lines --set output=counts --follow",
    "epochflow run orders.ts --name orders-eu --set input=eu.jsonl --set output=eu",
  ];
  const notes = `With both epoch options an epoch ends at whichever comes first.
Ctrl-C ends after the running epoch, a second one at once; both lose nothing.`;
  teach(command, examples, notes, exitCodesHelp);
};

const addRead: Add = (program, exit) => {
  const command = ofStack(program.command("read").argument("[folder]", "the sink's folder on this machine"))
    .summary("print the committed rows of a files sink")
    .description(
      "Prints the committed rows that a files sink has written, as they are in its files (JSON lines by default), in the order of epochs, and nothing else: of a " +
        "folder, or of a bucket that a deployed pipeline writes to. Compressed files are decompressed; of CSV the names of columns come first.",
    )
    .addOption(stackOption("--sink <id>", "which sink, of a pipeline with several"))
    .addOption(numberOption("--after", "leave out epochs up to this one; 0: none", 0))
    .action(async (folder, options) => exit(await (await import("./commands/read.ts")).readCommand(folder, options)));
  teach(command, ["epochflow read out | sort | head", "epochflow read --stack word-count --sink counts"]);
};

const addExplain: Add = (program, exit) => {
  const command = program
    .command("explain")
    .summary("show what a pipeline consists of, without running it")
    .description(
      "Shows the stages, operators, windows, sinks and parameters of a pipeline. Reads its module and nothing else, " +
        "so parameters need no values.",
    )
    .argument("<pipeline>", "module whose default export is the pipeline")
    .addOption(nameOption())
    .option("--json", "as JSON")
    .action(async (module, options) =>
      exit(await (await import("./commands/explain.ts")).explainCommand(module, options)),
    );
  teach(command, ["epochflow explain access-log.ts", "epochflow explain access-log.ts --json | jq .parameters"]);
};

const addVerify: Add = (program, exit) => {
  const command = program
    .command("verify")
    .summary("run a pipeline where everything fails, and check that nothing is lost or doubled")
    .description(
      "Runs a pipeline in a simulated world, seed after seed: crashes, lost answers, zombies, stale listings, clocks that jump. Sources and sinks are " +
        "simulated and parameters need no values; records come from the module's export `sample`, or are made up. Checks every invariant, " +
        "every row of output, and that the pipeline's functions are deterministic. A seed gives the same run every time.",
    )
    .argument("<pipeline>", "module whose default export is the pipeline")
    .addOption(numberOption("--minutes", "go on for so long (default: 1)"))
    .addOption(numberOption("--seeds", "so many seeds instead").conflicts("minutes"))
    .addOption(numberOption("--seed", "first seed; alone: replay this one"))
    .action(async (module, options) =>
      exit(await (await import("./commands/verify.ts")).verifyCommand(module, options)),
    );
  teach(command, [
    "epochflow verify access-log.ts",
    "epochflow verify access-log.ts --seeds 1000 --seed 5000",
    "epochflow verify access-log.ts --seed 17",
  ]);
};
