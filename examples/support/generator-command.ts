import { once } from "node:events";
import { createWriteStream, mkdirSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { parseArgs } from "node:util";

/** The whole numbers that a generator takes on its command line, each with what it means and its default. */
export type NumberOptions = Readonly<Record<string, { readonly help: string; readonly value: number }>>;

/**
 * The command line that all generators share: `--help`, `--out FILE` (standard output by default) and their own numbers. Exit codes: 1 if it
 * cannot write, 2 for a wrong option; the message says what was wrong.
 */
export async function generatorCommand<Options extends NumberOptions>(command: {
  file: string;
  about: string;
  options: Options;
  lines: (values: { [Name in keyof Options]: number }) => Iterable<string>;
}): Promise<void> {
  const { file, about, options, lines } = command;
  try {
    const { help, out, numbers } = parseOptions(options);
    if (help) process.stdout.write(helpText(file, about, options));
    else await writeLines(lines(numbers), out);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = "code" in error ? String(error.code) : "";
    if (code === "EPIPE") return; // the reader has seen enough, as `head` does
    const isUsage = code.startsWith("ERR_PARSE_ARGS") || error instanceof RangeError;
    process.stderr.write(`${error.message}\n${isUsage ? `Try: node ${file} --help\n` : ""}`);
    process.exitCode = isUsage ? 2 : 1;
  }
}

function parseOptions<Options extends NumberOptions>(options: Options) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", short: "h" },
      out: text,
      ...Object.fromEntries(Object.keys(options).map((name) => [name, text])),
    },
  });
  const given = values as Readonly<Record<string, string | undefined>>;
  const numbers = Object.entries(options).map(([name, { value }]) => [name, wholeNumber(name, given[name], value)]);
  return {
    help: values.help,
    out: values.out,
    numbers: Object.fromEntries(numbers) as { [Name in keyof Options]: number },
  };
}

/**
 * Writes lines to a file, which appears once it is whole (its folder is made), or to standard output: 64 KiB at a time, waiting whenever
 * the reader is slower.
 */
export async function writeLines(lines: Iterable<string>, file?: string): Promise<void> {
  if (file === undefined) return void (await writeTo(process.stdout, lines));
  mkdirSync(dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  const stream = createWriteStream(unfinished);
  await writeTo(stream, lines);
  stream.end();
  await once(stream, "close");
  renameSync(unfinished, file);
}

async function writeTo(stream: Writable, lines: Iterable<string>): Promise<void> {
  let chunk = "";
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < 65_536) continue;
    if (!stream.write(chunk)) await once(stream, "drain");
    chunk = "";
  }
  stream.write(chunk);
}

function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,15}$/.test(text)) throw new RangeError(`--${name} takes a whole number, not ${JSON.stringify(text)}`);
  return Number(text);
}

function helpText(file: string, about: string, options: NumberOptions): string {
  const rows = [
    ...Object.entries(options).map(([name, { help, value }]) => [`--${name} N`, `${help} (default ${value})`] as const),
    ["--out FILE", "where to write; its folder is made (default: standard output)"] as const,
    ["--help", "this text"] as const,
  ];
  return `${about}\n\nnode ${file} [options]\n\n${rows.map(([name, text]) => `  ${name.padEnd(12)}${text}`).join("\n")}\n`;
}
