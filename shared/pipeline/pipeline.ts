import { UsageError } from "../errors.ts";
import { checkOptions, didYouMean } from "../options.ts";
import { checkSink } from "./checks.ts";
import { type Definition, Graph, graphOf, type OperatorOptions } from "./graph.ts";
import { checkName } from "./names.ts";
import { Stream } from "./stream.ts";
import {
  type DeadLetterRow,
  type Guarantee,
  guarantees,
  type OnError,
  type SinkDescription,
  type SourceDescription,
} from "./topology.ts";

/** What `onError` takes to keep bad records: made by `deadLetter`. */
export interface DeadLetter {
  readonly deadLetter: SinkDescription<DeadLetterRow>;
}

/** `onError: deadLetter(files.sink({ path: "rejected" }))`: bad records go to the sink, committed with the same epoch as the good ones. */
export function deadLetter(sink: SinkDescription<DeadLetterRow>): DeadLetter {
  checkSink("deadLetter()", sink);
  return { deadLetter: sink };
}

export interface PipelineOptions {
  /**
   * What becomes of a record that cannot be decoded, or on which a function of yours throws: `fail` (default) stops the pipeline with an
   * error that names the record's place, `skip` counts it, `deadLetter(sink)` writes it to a sink whose id is "dead-letter".
   */
  readonly onError?: "fail" | "skip" | DeadLetter;
  /** Into how many groups keys are hashed: the most tasks that can share the state. Cannot change later; default 128. */
  readonly keyGroups?: number;
  /**
   * What a failure may do to output: `exactly-once` (default) nothing; `at-least-once` double it, `at-most-once` lose it, and the ledger counts what. The weaker
   * ones write straight to the sinks, without a second phase, and are cheaper. May change at any time.
   */
  readonly guarantee?: Guarantee;
}

const deadLetterId = "dead-letter";
const defaultKeyGroups = 128;
/** Group numbers fit 15 bits, as in Flink. */
const maxKeyGroups = 32_768;

/**
 * Begins a pipeline. Nothing is read or written: what follows builds a description, which a module exports, and `epochflow run` or `run`
 * runs. The name is part of where its state lies.
 *
 * @throws UsageError for a name, option or value that is not allowed
 */
export function pipeline(name: string, options: PipelineOptions = {}): Pipeline {
  return new Pipeline(name, options);
}

/** A pipeline that waits for its source. */
export class Pipeline implements Definition {
  readonly [graphOf]: Graph;

  constructor(name: string, options: PipelineOptions) {
    checkName("name of a pipeline", name);
    checkOptions(`pipeline("${name}")`, options, ["onError", "keyGroups", "guarantee"]);
    const { onError = "fail", keyGroups = defaultKeyGroups, guarantee = "exactly-once" } = options;
    checkChoice("guarantee", guarantee, guarantees);
    checkKeyGroups(keyGroups);
    this[graphOf] = new Graph({ name, guarantee, onError: policyOf(onError), keyGroups });
    if (typeof onError === "object") this[graphOf].addSideSink(deadLetterId, onError.deadLetter);
  }

  /** Reads a source, as values that its decoder makes. @throws UsageError `several-sources` the second time */
  from<T, K>(source: SourceDescription<T, K>, options?: OperatorOptions): Stream<T, K> {
    const graph = this[graphOf];
    if (graph.nodes.length > 0) {
      throw new UsageError("several-sources", "A pipeline has one source for now, and this one has it already", {
        wayOut: "Use the stream that the first .from() gave as often as you like, or make a second pipeline.",
        place: { pipeline: graph.settings.name },
      });
    }
    if (typeof source?.kind !== "string" || typeof source.value?.decode !== "function") {
      throw new UsageError("invalid-argument", ".from() takes a source", {
        wayOut: "For instance files.source({ … }).",
      });
    }
    const id = graph.name("source", options);
    graph.nodes.push({ id, kind: "source", source: source as SourceDescription });
    return new Stream(graph, id);
  }
}

function policyOf(onError: "fail" | "skip" | DeadLetter): OnError {
  if (typeof onError === "object" && onError !== null) {
    checkSink("onError: deadLetter()", onError.deadLetter);
    return { action: "deadLetter", sink: deadLetterId };
  }
  checkChoice("onError", onError, ["fail", "skip"]);
  return { action: onError };
}

function checkChoice(option: string, given: unknown, choices: readonly string[]): void {
  if (choices.includes(given as string)) return;
  const names = choices.map((choice) => `"${choice}"`).join(" or ");
  throw new UsageError(
    "invalid-option",
    `${option} is ${JSON.stringify(given)}.${didYouMean(String(given), choices)}`,
    {
      wayOut: option === "onError" ? `Use ${names} or deadLetter(sink).` : `Use ${names}.`,
    },
  );
}

function checkKeyGroups(given: unknown): void {
  if (Number.isInteger(given) && (given as number) >= 1 && (given as number) <= maxKeyGroups) return;
  throw new UsageError(
    "invalid-option",
    `keyGroups is ${String(given)}, but must be an integer from 1 to ${maxKeyGroups}`,
  );
}
