import { inspect } from "node:util";
import { UsageError } from "../errors.ts";
import { Parameter } from "./parameter.ts";

/** The value of an environment variable, at the time that it is needed: made by `environment`. */
export class EnvironmentVariable {
  readonly name: string;
  /** For the compiler: not everything that has a name is one. */
  declare private readonly isEnvironmentVariable: true;

  constructor(name: string) {
    this.name = name;
  }
}

/** `environment("KAFKA_PASSWORD")`: where a secret is, instead of the secret. @throws UsageError `invalid-environment` */
export function environment(name: string): EnvironmentVariable {
  if (typeof name === "string" && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return new EnvironmentVariable(name);
  throw new UsageError("invalid-environment", `environment(${JSON.stringify(name)}) names no environment variable`);
}

/** How a secret is given: where it is, a function that fetches it, or the text itself. */
export type SecretOption = EnvironmentVariable | (() => string | Promise<string>) | Parameter | string;

/**
 * `secret(source)`: a text that no output shows, as an option of a connector of yours: `environment("NAME")`, a function that fetches it, a `parameter(…)` without default,
 * or the text. It is asked for where it is needed, with `reveal()`.
 *
 * @throws UsageError `invalid-secret`
 */
export function secret(source: SecretOption): Secret {
  return Secret.of("secret()", source);
}

/** A text that nobody shall see: what prints, logs or stores it gets where it is from. */
export class Secret {
  readonly #source: SecretOption;

  private constructor(source: SecretOption) {
    this.#source = source;
  }

  /** @param what for messages: "password of sasl" @throws UsageError `invalid-secret` */
  static of(what: string, source: unknown): Secret {
    if (source instanceof Parameter && source.defaultValue !== undefined) {
      throw new UsageError(
        "invalid-secret",
        `${what} is the parameter "${source.name}", whose default anybody can see`,
        {
          wayOut: "Leave the default out, or use environment(…).",
        },
      );
    }
    const isText = typeof source === "string" && source !== "";
    if (
      isText ||
      typeof source === "function" ||
      source instanceof Parameter ||
      source instanceof EnvironmentVariable
    ) {
      return new Secret(source as SecretOption);
    }
    throw new UsageError("invalid-secret", `${what} must be environment(…), parameter(…), a function, or a text`);
  }

  /** With a value in place of a parameter. */
  bind(replace: (parameter: Parameter) => unknown): Secret {
    return this.#source instanceof Parameter ? new Secret(replace(this.#source) as SecretOption) : this;
  }

  /** @throws UsageError `missing-environment`; whatever a function of the user throws */
  async reveal(): Promise<string> {
    const source = this.#source;
    if (typeof source === "string") return source;
    if (typeof source === "function") return source();
    if (source instanceof Parameter) throw new Error(`The parameter ${source.name} has no value yet`);
    const value = process.env[source.name];
    if (value !== undefined) return value;
    throw new UsageError("missing-environment", `The environment variable ${source.name} is not set`, {
      wayOut: "The pipeline takes a secret from it: set it where the pipeline runs.",
    });
  }

  toString(): string {
    const source = this.#source;
    if (source instanceof Parameter) return `parameter("${source.name}")`;
    if (source instanceof EnvironmentVariable) return `environment("${source.name}")`;
    return "(secret)";
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}
