import { Option } from "commander";
import { parsePort } from "./arguments.ts";
import {
  type Add,
  nameOption,
  numberOption,
  ofStack,
  ofState,
  parameterOption,
  stateOption,
  teach,
} from "./command-options.ts";

export const addLag: Add = (program, exit) => {
  const command = ofStack(
    program
      .command("lag")
      .argument("[pipeline]", "module whose default export is the pipeline")
      .addOption(parameterOption())
      .addOption(nameOption())
      .addOption(stateOption()),
  )
    .summary("show how far a pipeline is behind its source")
    .description(
      "Shows for each partition of the source where the pipeline is, where the partition ends, and its watermark. Of a topic, the stable end is the last " +
        "stable offset; above it are transactions that are not over. Of a deployed pipeline, whose source may be out of reach from here, the ends are those " +
        "that its last plan has seen. Changes nothing.",
    )
    .option("--json", "as JSON, a line for each partition")
    .action(async (module, options) => exit(await (await import("./commands/lag.ts")).lagCommand(module, options)));
  teach(command, [
    "epochflow lag word-count-kafka.ts --set brokers=localhost:9092 --set input=lines --set output=counts",
    "epochflow lag --stack word-count --json | jq .end-.position",
  ]);
};

export const addStatus: Add = (program, exit) => {
  const command = ofStack(ofState(program.command("status")))
    .summary("show where a pipeline is, and what holds it up")
    .description(
      "Shows where a pipeline is: its last epoch, watermark and positions, what waits, and what holds it up.",
    )
    .option("--json", "as JSON")
    .action(async (pipeline, options) =>
      exit(await (await import("./commands/status.ts")).statusCommand(pipeline, options)),
    );
  teach(command, ["epochflow status access-log.ts --json", "epochflow status --stack word-count --region eu-west-1"]);
};

export const addEpochs: Add = (program, exit) => {
  const command = ofStack(ofState(program.command("epochs")))
    .summary("list epochs: ranges, attempts, timings, counts")
    .description(
      "Lists the last epochs: what they read, in which attempt they were decided, when, and what came of it.",
    )
    .addOption(numberOption("--last", "how many").default(20))
    .option("--json", "as JSON, a line each")
    .action(async (pipeline, options) =>
      exit(await (await import("./commands/epochs.ts")).epochsCommand(pipeline, options)),
    );
  teach(command, [
    "epochflow epochs access-log.ts --json | jq .decision.counts",
    "epochflow epochs --stack word-count --last 5",
  ]);
};

export const addUi: Add = (program, exit) => {
  const command = ofStack(ofState(program.command("ui")))
    .summary("serve a page that shows a pipeline: epochs, lag, topology")
    .description(
      "Serves a page to this machine alone (127.0.0.1) until Ctrl-C, which shows what a pipeline did and does: its epochs in time, attempts and their errors, lag " +
        "and watermark of each partition, throughput, state. It reads the ledger and changes nothing, also while a run works on it. Given the module, " +
        "the topology has all of its operators.",
    )
    .addOption(
      new Option("--port <port>", "port (default: 4040, or the next that is free)").argParser((text) =>
        parsePort("--port", text),
      ),
    )
    .action(async (pipeline, options) => exit(await (await import("./commands/ui.ts")).uiCommand(pipeline, options)));
  teach(command, ["epochflow ui access-log.ts", "epochflow ui --stack word-count --port 8080"]);
};

export const addPauseAndResume: Add = (program, exit) => {
  const pause = ofStack(ofState(program.command("pause")))
    .summary("let a pipeline rest after the running epoch")
    .description(
      "A process or an execution that is at work ends after its epoch, and nothing is processed until `resume`.",
    )
    .action(async (pipeline, options) =>
      exit(await (await import("./commands/pause.ts")).pauseCommand(pipeline, options)),
    );
  teach(pause, ["epochflow pause access-log", "epochflow pause --stack word-count"]);

  const resume = ofStack(ofState(program.command("resume")))
    .summary("let a paused or stopped pipeline go on")
    .description(
      "Lets a pipeline go on that was paused, or that an error has stopped, once its cause is mended. A deployed one is woken, too.",
    )
    .action(async (pipeline, options) =>
      exit(await (await import("./commands/resume.ts")).resumeCommand(pipeline, options)),
    );
  teach(resume, ["epochflow resume --state /var/lib/access-log", "epochflow resume --stack word-count"]);
};

export const addAbandon: Add = (program, exit) => {
  const command = ofStack(ofState(program.command("abandon")))
    .summary("give up output that can never be committed")
    .description(
      "Gives up what a sink has not committed of an epoch, where that can never succeed: its target is gone for good. " +
        "The output is lost, which the ledger records; the pipeline goes on. Asks first. Output to Kafka may be there after all: to find out, the " +
        "module and its parameters are needed on this machine; a deployed pipeline's own function looks.",
    )
    .requiredOption("--sink <id>", "the sink's id")
    .addOption(numberOption("--epoch", "the epoch's number").makeOptionMandatory())
    .addOption(parameterOption())
    .option("--unasked", "do not ask the sink's service whether it has the output after all: it is gone for good")
    .option("--yes", "do not ask")
    .action(async (pipeline, options) =>
      exit(await (await import("./commands/abandon.ts")).abandonCommand(pipeline, options)),
    );
  teach(command, [
    "epochflow abandon access-log.ts --sink counts --epoch 17 --yes",
    "epochflow abandon --stack word-count --sink counts --epoch 17",
  ]);
};

export const addReset: Add = (program, exit) => {
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
