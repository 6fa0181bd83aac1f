import { Command, Option } from "commander";
import { engineVersion } from "../local/engine-version.ts";
import { parseDuration, parseParameter, parseWholeNumber } from "./arguments.ts";
import { type ExitCode, exitCodesHelp } from "./exit-codes.ts";

/**
 * The command line as data. The code of a command is loaded when it is called, so that help comes at once.
 *
 * @param exit takes the exit code of the command that was called
 */
export function createProgram(exit: (code: ExitCode) => void): Command {
  const program = new Command("epochflow")
    .description("Processes streams exactly once, on this machine with Node alone.")
    .version(engineVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "explain a command")
    .helpCommand("help [command]", "explain a command");
  addRun(program, exit);
  addRead(program, exit);
  addExplain(program, exit);
  addVerify(program, exit);
  addLag(program, exit);
  addStatus(program, exit);
  addEpochs(program, exit);
  addPauseAndResume(program, exit);
  addAbandon(program, exit);
  addReset(program, exit);
  const environment = "Environment:\n  EPOCHFLOW_DEBUG=1  stack traces with errors\n  NO_COLOR=1         no colours";
  return teach(program, ["epochflow run examples/word-count.ts", "epochflow run --help"], exitCodesHelp, environment);
}

type Add = (program: Command, exit: (code: ExitCode) => void) => void;

const addRun: Add = (program, exit) => {
  const command = program
    .command("run")
    .summary("process the input of a pipeline until all of it is done")
    .description(
      "Processes the input of a pipeline, epoch by epoch, until all of it is done. However the process ends, the next run goes on " +
        "from the last epoch that was committed; nothing is lost, and nothing comes twice. New input is taken up by running again, or with --follow.",
    )
    .argument("<pipeline>", "module whose default export is the pipeline")
    .option("--set <name=value>", "value of one of the pipeline's parameters; may be repeated", parseParameter)
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
    .action(async (module, options) => exit(await (await import("./commands/run.ts")).runCommand(module, options)));
  const examples = [
    "epochflow run access-log.ts --set input=access.log --set output=out",
    "epochflow run word-count-kafka.ts --set brokers=localhost:9092 --set input=lines --set output=counts --follow",
  ];
  const notes = `With both epoch options an epoch ends at whichever comes first.
Ctrl-C ends after the running epoch, a second one at once; both lose nothing.`;
  teach(command, examples, notes, exitCodesHelp);
};

const addRead: Add = (program, exit) => {
  const command = program
    .command("read")
    .summary("print the committed rows of an output folder")
    .description(
      "Prints the committed rows of a folder that a files sink has written, as JSON lines in the order of epochs, and nothing else.",
    )
    .argument("<folder>", "the sink's folder")
    .action(async (folder) => exit(await (await import("./commands/read.ts")).readCommand(folder)));
  teach(command, ["epochflow read out", "epochflow read out | sort | head"]);
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

const addLag: Add = (program, exit) => {
  const command = program
    .command("lag")
    .summary("show how far a pipeline is behind its source")
    .description(
      "Shows for each partition of the source where the pipeline is, where the partition ends, and its watermark. Of a topic, the stable end is the last " +
        "stable offset; above it are transactions that are not over. Changes nothing.",
    )
    .argument("<pipeline>", "module whose default export is the pipeline")
    .option("--set <name=value>", "value of one of the pipeline's parameters; may be repeated", parseParameter)
    .addOption(stateOption())
    .option("--json", "as JSON, a line for each partition")
    .action(async (module, options) => exit(await (await import("./commands/lag.ts")).lagCommand(module, options)));
  teach(command, [
    "epochflow lag access-log.ts --set input=access.log --set output=out",
    "epochflow lag word-count-kafka.ts --set brokers=localhost:9092 --set input=lines --set output=counts",
  ]);
};

const addStatus: Add = (program, exit) => {
  const command = ofState(program.command("status"))
    .summary("show where a pipeline is, and what holds it up")
    .description(
      "Shows where a pipeline is: its last epoch, watermark and positions, what waits, and what holds it up.",
    )
    .option("--json", "as JSON")
    .action(async (pipeline, options) =>
      exit(await (await import("./commands/status.ts")).statusCommand(pipeline, options)),
    );
  teach(command, ["epochflow status", "epochflow status access-log.ts --json"]);
};

const addEpochs: Add = (program, exit) => {
  const command = ofState(program.command("epochs"))
    .summary("list epochs: ranges, attempts, timings, counts")
    .description(
      "Lists the last epochs: what they read, in which attempt they were decided, when, and what came of it.",
    )
    .addOption(numberOption("--last", "how many").default(20))
    .option("--json", "as JSON, a line each")
    .action(async (pipeline, options) =>
      exit(await (await import("./commands/epochs.ts")).epochsCommand(pipeline, options)),
    );
  teach(command, ["epochflow epochs --last 5", "epochflow epochs access-log.ts --json | jq .decision.counts"]);
};

const addPauseAndResume: Add = (program, exit) => {
  const pause = ofState(program.command("pause"))
    .summary("let a pipeline rest after the running epoch")
    .description("A process that is at work ends after its epoch, and `run` does nothing until `resume`.")
    .action(async (pipeline, options) =>
      exit(await (await import("./commands/pause.ts")).pauseCommand(pipeline, options)),
    );
  teach(pause, ["epochflow pause", "epochflow pause access-log"]);

  const resume = ofState(program.command("resume"))
    .summary("let a paused or stopped pipeline go on")
    .description("Lets a pipeline go on that was paused, or that an error has stopped, once its cause is mended.")
    .action(async (pipeline, options) =>
      exit(await (await import("./commands/resume.ts")).resumeCommand(pipeline, options)),
    );
  teach(resume, ["epochflow resume", "epochflow resume --state /var/lib/access-log"]);
};

const addAbandon: Add = (program, exit) => {
  const command = ofState(program.command("abandon"))
    .summary("give up output that can never be committed")
    .description(
      "Gives up what a sink has not committed of an epoch, where that can never succeed: its target is gone for good. " +
        "The output is lost, which the ledger records; the pipeline goes on. Asks first. Output to Kafka may be there after all: to find out, the " +
        "module and its parameters are needed.",
    )
    .requiredOption("--sink <id>", "the sink's id")
    .addOption(numberOption("--epoch", "the epoch's number").makeOptionMandatory())
    .option("--set <name=value>", "value of one of the pipeline's parameters; may be repeated", parseParameter)
    .option("--unasked", "do not ask the sink's service whether it has the output after all: it is gone for good")
    .option("--yes", "do not ask")
    .action(async (pipeline, options) =>
      exit(await (await import("./commands/abandon.ts")).abandonCommand(pipeline, options)),
    );
  teach(command, [
    "epochflow abandon --sink counts --epoch 17",
    "epochflow abandon access-log.ts --sink counts --epoch 17 --yes",
  ]);
};

const addReset: Add = (program, exit) => {
  const command = ofState(program.command("reset"))
    .summary("begin anew: empty state, all input once more")
    .description(
      "Empties the state of a pipeline, so that the next run reads all of the input again. What was written stays, and its rows come " +
        "once more. Given the module, a changed topology is accepted. Asks first.",
    )
    .option("--yes", "do not ask")
    .action(async (pipeline, options) =>
      exit(await (await import("./commands/reset.ts")).resetCommand(pipeline, options)),
    );
  teach(command, ["epochflow reset access-log.ts", "epochflow reset --state /var/lib/access-log --yes"]);
};

/** How every command but `run` finds the state that it is about. */
function ofState(command: Command): Command {
  return command
    .argument("[pipeline]", "its module or its name; not needed where .epochflow holds one state only")
    .addOption(stateOption());
}

function stateOption(): Option {
  return new Option("--state <folder>", "folder of the state (default: .epochflow/<name of the pipeline>)");
}

function numberOption(flag: string, description: string): Option {
  return new Option(`${flag} <n>`, description).argParser((text) => parseWholeNumber(flag, text));
}

function durationOption(flag: string, description: string, byDefault: string): Option {
  const option = new Option(`${flag} <duration>`, `${description} (default: ${byDefault})`);
  return option.argParser((text) => parseDuration(flag, text));
}

/** Below the options: examples, then whatever else is good to know. */
function teach(command: Command, examples: readonly string[], ...notes: readonly string[]): Command {
  const lines = ["Examples:", ...examples.map((example) => `  $ ${example}`)].join("\n");
  return command.addHelpText("after", `\n${[lines, ...notes].join("\n\n")}`);
}
