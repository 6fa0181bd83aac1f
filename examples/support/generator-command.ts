import { once } from "node:events";
import { createWriteStream, mkdirSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { parseArgs } from "node:util";

/** The whole numbers that a generator takes on its command line, each with what it means and its default. */
export type NumberOptions = Readonly<Record<string, { readonly help: string; readonly value: number }>>;

/**
 * The command line that all generators share: `--help`, `--out FILE` (standard output by default) and their own numbers.
 * A wrong option ends the process with code 2 and says what was wrong.
 */
export async function generatorCommand<Options extends NumberOptions>(command: {
  file: string;
  about: string;
  options: Options;
  lines: (values: { [Name in keyof Options]: number }) => Iterable<string>;
}): Promise<void> {
  try {
    const text = { type: "string" } as const;
    const { values } = parseArgs({
      options: {
        help: { type: "boolean", short: "h" },
        out: text,
        ...Object.fromEntries(Object.keys(command.options).map((name) => [name, text])),
      },
    });
    if (values.help) return void process.stdout.write(help(command.file, command.about, command.options));
    const numbers = Object.entries(command.options).map(([name, { value }]) => [
      name,
      wholeNumber(name, (values as Record<string, unknown>)[name], value),
    ]);
    await writeLines(command.lines(Object.fromEntries(numbers)), values.out as string | undefined);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\nTry: node ${command.file} --help\n`);
    process.exitCode = 2;
  }
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

function wholeNumber(name: string, text: unknown, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`--${name} wants a whole number, not ${JSON.stringify(text)}`);
  return value;
}

function help(file: string, about: string, options: NumberOptions): string {
  const rows = Object.entries(options).map(([name, { help, value }]) => [`--${name} N`, `${help} (default ${value})`]);
  rows.push(["--out FILE", "where to write; its folder is made (default: standard output)"], ["--help", "this text"]);
  return `${about}\n\nnode ${file} [options]\n\n${rows.map(([name, text]) => `  ${name!.padEnd(12)}  ${text}`).join("\n")}\n`;
}
