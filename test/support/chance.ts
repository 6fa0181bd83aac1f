import assert from "node:assert/strict";
import type { RunOptions } from "../../local/options.ts";
import type { Internals } from "../../local/session.ts";
import { SeededRandom } from "../../shared/adapters/memory/random.ts";
import { InfrastructureError } from "../../shared/errors.ts";
import type { Portion } from "./arbitraries.ts";
import { temporaryFolder } from "./folder.ts";
import { type Around, around, copyOf, synchronous } from "./ports.ts";
import { type Job, Workplace } from "./readings.ts";

/** Task counts and sub-ranges by chance, and with `crashes` port calls that fail by chance, before or after their effect. */
export function chance(seed: number, { crashes = false, pieceBytes = 60 } = {}): Internals {
  const random = new SeededRandom(seed);
  const fail: Around = (method, call) => {
    const dice = crashes ? random.below(500) : 2;
    const error = new InfrastructureError("injected", method);
    if (synchronous.has(method)) {
      if (dice === 0) throw error;
      return call();
    }
    if (dice === 0) return Promise.reject(error) as never;
    return dice === 1 ? ((call() as Promise<unknown>).then(() => Promise.reject(error)) as never) : call();
  };
  return {
    chooseTasks: (_, stages) => Array.from({ length: stages }, () => Math.max(1, random.below(7) - 2)),
    engine: (engine) => {
      const split = (range: Parameters<typeof engine.source.split>[0]) => engine.source.split(range, pieceBytes);
      const cut = {
        ...engine,
        source: { ...copyOf(engine.source), split },
        policy: { ...engine.policy, backOffMs: 1 },
      };
      return around(cut, fail);
    },
  };
}

/** In a folder of its own, portion by portion. Each runs until all is done, as often as it takes. */
export async function runPortions<T>(
  job: Job,
  portions: readonly Portion[],
  options: RunOptions,
  internals: Internals,
  look: (place: Workplace) => Promise<T>,
): Promise<T> {
  using folder = temporaryFolder();
  const place = new Workplace(folder.path, job);
  for (const { input, hold } of portions) {
    for (const [name, lines] of Object.entries(input)) place.append(name, lines);
    await finish(place, { ...options, hold }, internals);
  }
  return await look(place);
}

async function finish(place: Workplace, options: RunOptions, internals: Internals): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const result = await place.run(options, internals).catch((error: unknown) => {
      if (error instanceof InfrastructureError) return { outcome: "failed", error };
      throw error;
    });
    if (result.outcome === "done" || result.outcome === "nothing-new") return;
    assert.equal(result.outcome, "failed", JSON.stringify(result.error));
  }
  assert.fail("it never ends");
}
