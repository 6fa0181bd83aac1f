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

/** `parameter("input")`: given by `--set input=…`, by the construct's `parameters`, or its default. */
export function parameter(name: string, defaultValue?: string): Parameter {
  return new Parameter(name, defaultValue);
}
