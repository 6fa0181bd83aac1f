/** What programs that a person runs by `npm run …` have in common: words on standard error, data on standard output, options or a hint. */

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** A line of JSON. */
export function emit(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Digits may be grouped by `_` and `,`. @throws Error that names the option */
export function wholeNumber(name: string, text: string): number {
  const value = Number(text.replaceAll(/[_,]/g, ""));
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new Error(`--${name} takes a whole number above 0, not "${text}"`);
}

/** Undefined where there is nothing to do: the help was printed, or what is wrong with an option was said. */
export function optionsOrExit<T>(command: string, help: string, parse: () => T | "help"): T | undefined {
  try {
    const options = parse();
    if (options !== "help") return options;
    process.stdout.write(help);
  } catch (error) {
    say(`${error instanceof Error ? error.message : error}\nTry: npm run ${command} -- --help`);
    process.exitCode = 2;
  }
  return undefined;
}
