import { UsageError } from "../errors.ts";

/** A placeholder for a value given at run time, so that a pipeline can be described without it. */
export class Parameter {
  readonly name: string;
  readonly defaultValue: string | undefined;

  constructor(name: string, defaultValue: string | undefined) {
    this.name = name;
    this.defaultValue = defaultValue;
  }
}

/** A value, or the promise of one. */
export type OrParameter<T> = T | Parameter;

const namePattern = /^[A-Za-z][A-Za-z0-9_.-]*$/;

/**
 * `parameter("input")`: given by `--set input=…`, by the construct's `parameters`, or its default.
 *
 * @throws UsageError `invalid-parameter`
 */
export function parameter(name: string, defaultValue?: string): Parameter {
  if (typeof name === "string" && namePattern.test(name) && ["string", "undefined"].includes(typeof defaultValue)) {
    return new Parameter(name, defaultValue);
  }
  throw new UsageError("invalid-parameter", `parameter(${JSON.stringify(name)}, …) is not possible`, {
    wayOut: "Its name is letters, digits, - _ and ., beginning with a letter; its default, if any, is a text.",
  });
}
