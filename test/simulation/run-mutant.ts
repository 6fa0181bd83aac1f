import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const child = fileURLToPath(new URL("mutant-process.ts", import.meta.url));

/** How a mutant was caught. */
export interface Caught {
  readonly seed: number;
  readonly invariant: string;
  readonly message: string;
}

/** Runs a mutant on some seeds, in a process of its own; with `faults` only, if there are any. Null if it survived. */
export async function runMutant(
  name: string,
  seeds: { first: number; count: number },
  faults: readonly string[] = [],
): Promise<Caught | null> {
  const given = [name, String(seeds.first), String(seeds.count), ...faults];
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=epochflow-source", child, ...given], {
    maxBuffer: 1 << 24,
  });
  return JSON.parse(stdout.trim().split("\n").at(-1)!);
}
