import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { remove, unlessMissing } from "../shared/adapters/filesystem/durable.ts";
import { visibleParameters } from "../shared/pipeline/bind.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import type { Message } from "./options.ts";

type Values = Readonly<Record<string, string>>;

interface Remembered {
  readonly message?: Message;
  readonly forget: () => Promise<void>;
}

const fileIn = (state: string) => join(state, "parameters.json");

/**
 * Compares the values of parameters with those of the last run on this state, and remembers them. Most may change: a folder moves, a broker gets another address. But whoever
 * runs one module with other values, and means another pipeline, must hear that he is about to mix the two. Secrets are neither kept nor shown.
 *
 * @param topology with its parameters in it
 * @returns what there is to say; and how to forget these values again, for a run that could not begin with them. The protocol itself does not look at this file.
 */
export async function rememberParameters(topology: Topology, given: Values, state: string): Promise<Remembered> {
  const values = valuesOf(topology, given);
  const before = await lastParameters(state);
  const differences = before === undefined ? [] : differencesOf(before, values);
  if (before === undefined || differences.length > 0) await write(state, values);
  return {
    ...(differences.length > 0 && { message: { level: "warning", text: warningOf(differences) } }),
    forget: () => (before === undefined ? remove(fileIn(state)) : write(state, before)),
  };
}

/** Each parameter whose value is not that of the last run, as a sentence. */
export async function changedParameters(topology: Topology, given: Values, state: string): Promise<string[]> {
  const before = await lastParameters(state);
  return before === undefined ? [] : differencesOf(before, valuesOf(topology, given));
}

function warningOf(differences: readonly string[]): string {
  return [
    "this state was last run with other parameters, and goes on with these:",
    ...differences,
    "If this is meant to be another pipeline, interrupt it, and run it under a name of its own: --name NAME.",
  ].join("\n");
}

function valuesOf(topology: Topology, given: Values): Values {
  const visible = visibleParameters(topology);
  const values = visible.flatMap(({ name, defaultValue }) => {
    const value = Object.hasOwn(given, name) ? given[name] : defaultValue;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(values);
}

/** One that is new, or gone, came with a change of the module. */
function differencesOf(before: Values, now: Values): string[] {
  const shared = Object.keys(now).filter((name) => Object.hasOwn(before, name) && before[name] !== now[name]);
  return shared.map((name) => `${name} was ${JSON.stringify(before[name])}, is ${JSON.stringify(now[name])}`);
}

/** What cannot be read says nothing. */
async function lastParameters(state: string): Promise<Values | undefined> {
  const text = await unlessMissing(readFile(fileIn(state), "utf8"));
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Values);
  } catch {
    return undefined;
  }
}

async function write(state: string, values: Values): Promise<void> {
  const draft = `${fileIn(state)}.${randomUUID()}`;
  try {
    await writeFile(draft, `${JSON.stringify(values, undefined, 2)}\n`, { flag: "wx" });
    await rename(draft, fileIn(state));
  } finally {
    await remove(draft);
  }
}
