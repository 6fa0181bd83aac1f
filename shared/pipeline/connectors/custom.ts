import { UsageError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { TwoPhaseCommitSink } from "../../ports/sink.ts";
import type { Source } from "../../ports/source.ts";
import { checkFunction } from "../checks.ts";
import { type DecoderLike, toDecoder } from "../decoders/decoder.ts";
import { Parameter } from "../parameter.ts";
import { EnvironmentVariable, Secret } from "../secret.ts";
import { describeSource, type SourceOptions, sourceOptionNames } from "../source-options.ts";
import type { SinkDescription, SourceDescription } from "../topology.ts";

/** Options where the pipeline runs: a text in place of each parameter, and a `Secret`, which is asked with `reveal()`, in place of each secret. */
export type BoundOptions<Options> = Options extends RegExp | ((...given: never[]) => unknown)
  ? Options
  : Options extends Parameter
    ? string
    : Options extends EnvironmentVariable | Secret
      ? Secret
      : Options extends object
        ? { readonly [Name in keyof Options]: BoundOptions<Options[Name]> }
        : Options;

interface CustomConnector<Options extends object> {
  /** What people call it, "postgres": small letters, digits and `-`. It is in the fingerprint of the pipeline's state. */
  readonly name: string;
  /**
   * What `create` is given: plain data, functions, `parameter(…)`, and secrets as `environment(…)` or `secret(…)`. `epochflow explain` shows it, but for what is secret. An
   * attempt never mixes two values of it.
   */
  readonly options: Options;
  /** Options that may not change as long as the state is kept: they are in its fingerprint, too. What says where committed output is, for instance. */
  readonly permanent?: readonly (keyof Options & string)[];
}

export interface CustomSinkOptions<T, Options extends object> extends CustomConnector<Options> {
  /**
   * Makes the sink, once in each process, worker thread and function that runs the pipeline. It must not wait for the target, which `open` of the sink is for; that it may
   * be asynchronous is for `import()`, by which a client is loaded only where it is used.
   */
  readonly create: (options: BoundOptions<Options>) => TwoPhaseCommitSink<T> | Promise<TwoPhaseCommitSink<T>>;
}

/** What a source may know of the run. */
export interface SourceSurroundings {
  /** The run ends at the end of the input, as it is now. */
  readonly bounded: boolean;
}

export interface CustomSourceOptions<T, K, Options extends object> extends CustomConnector<Options>, SourceOptions<T> {
  /** How a record's key becomes `metadata.key`; a text by default. */
  readonly key?: DecoderLike<K>;
  /** As that of a sink. */
  readonly create: (options: BoundOptions<Options>, surroundings: SourceSurroundings) => Source | Promise<Source>;
}

const ownNames = ["name", "options", "permanent", "create"];
const builtIn = ["files", "kafka"];

/**
 * A sink of your own, for `.to()`, `late` and `deadLetter()`: anything that can be written in two phases. It has to pass `sinkConformance` of
 * `epochflow/testing`.
 *
 * @throws UsageError for what is not allowed; `secret-in-options` for a password in a text
 */
export function customSink<T, const Options extends object>(given: CustomSinkOptions<T, Options>): SinkDescription<T> {
  checkOptions("customSink()", given, ownNames);
  return describeConnector("customSink()", given);
}

/**
 * A source of your own, for `.from()`: anything that gives the same records again when it is asked for the same range. It has to pass `sourceConformance` of
 * `epochflow/testing`.
 *
 * @throws UsageError for what is not allowed; `secret-in-options` for a password in a text
 */
export function customSource<T, const Options extends object, K = string>(
  given: CustomSourceOptions<T, K, Options>,
): SourceDescription<T, K | undefined> {
  checkOptions("customSource()", given, [...ownNames, "key", ...sourceOptionNames]);
  const { kind, options, connector } = describeConnector("customSource()", given);
  const key = given.key && toDecoder("key of customSource()", given.key);
  return { ...describeSource<T, K | undefined>(kind, given, options, key), connector };
}

function describeConnector(
  what: string,
  given: {
    readonly name: string;
    readonly options: object;
    readonly permanent?: readonly string[];
    readonly create: unknown;
  },
) {
  const { name, options, permanent = [], create } = given;
  if (typeof name !== "string" || !/^[a-z][a-z0-9-]*$/.test(name) || builtIn.includes(name))
    throw invalid(
      `name of ${what} is ${JSON.stringify(name)}`,
      "Use small letters, digits and -, and none of files and kafka.",
    );
  checkFunction(`create of ${what}`, create);
  const checked = checkedValue(`options of ${what}`, options) as Readonly<Record<string, unknown>>;
  if (typeof checked !== "object" || Array.isArray(checked)) throw invalid(`options of ${what} must be an object`);
  for (const each of permanent) checkPermanent(what, each, checked);
  return { kind: name, options: checked, connector: { create, permanent } as never };
}

function checkPermanent(what: string, name: string, options: Readonly<Record<string, unknown>>): void {
  if (!Object.hasOwn(options, name)) throw invalid(`permanent of ${what} names "${name}", which is no option`);
  const value = options[name];
  if (!(value instanceof Secret) && typeof value !== "function") return;
  throw invalid(
    `permanent of ${what} names "${name}", which is ${value instanceof Secret ? "a secret" : "a function"}`,
  );
}

/** A URL with a password in it: `postgres://alice:secret@host/`. */
const withPassword = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]*:[^/?#@\s]+@/i;

/** A copy of what can be described: all of it is data, and what is secret says so. */
function checkedValue(what: string, value: unknown): unknown {
  if (value instanceof EnvironmentVariable) return Secret.of(what, value);
  if (value instanceof Parameter || value instanceof Secret || value instanceof RegExp) return value;
  if (typeof value === "string" && withPassword.test(value))
    throw new UsageError("secret-in-options", `${what} has a password in it, which anybody can see`, {
      wayOut: "Give it as environment(…) or secret(…).",
    });
  if (Array.isArray(value)) return value.map((each, at) => checkedValue(`${what}[${at}]`, each));
  if (typeof value !== "object" || value === null) {
    if (typeof value !== "bigint" && typeof value !== "symbol") return value;
  } else if (Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, checkedValue(`"${name}" of ${what}`, each)]),
    );
  }
  throw invalid(
    `${what} is ${nameOf(value)}, which is no plain data`,
    "What a connector needs at run time it makes in create().",
  );
}

const nameOf = (value: unknown) =>
  typeof value === "object" ? `a ${value?.constructor?.name ?? "object"}` : `a ${typeof value}`;

function invalid(message: string, wayOut?: string): UsageError {
  return new UsageError("invalid-option", message, wayOut === undefined ? {} : { wayOut });
}
