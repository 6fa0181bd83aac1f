import type { Engine } from "../../../shared/epoch/engine.ts";
import type { ChainRun } from "../../../shared/epoch/epoch.ts";
import type { ObjectStore } from "../../../shared/ports/object-store.ts";
import type { StageState } from "../../../shared/state/stage-state.ts";
import { StateStore } from "../../../shared/state/state-store.ts";

/** CPU time of the process so far, in milliseconds: all threads, user and system. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** What an engine's state costs: looks at the state store, and at the objects that it writes. */
export class Probe {
  saves = 0;
  savedBytes = 0;
  saveCpuMs = 0;
  /** Of the first load, which reads what is on disk: state is warm from then on. */
  restoreCpuMs: number | undefined;

  readonly watch = (engine: Engine): Engine => ({ ...engine, state: new WatchedStateStore(engine.objects, this) });
}

class WatchedStateStore extends StateStore {
  readonly #probe: Probe;

  constructor(objects: ObjectStore, probe: Probe) {
    const counted: ObjectStore = {
      put: async (key, chunks, options) => {
        probe.savedBytes += chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        await objects.put(key, chunks, options);
      },
      get: (key, range) => objects.get(key, range),
      list: (prefix) => objects.list(prefix),
      delete: (keys) => objects.delete(keys),
    };
    super(counted);
    this.#probe = probe;
  }

  override async load(...given: Parameters<StateStore["load"]>): Promise<StageState> {
    const before = cpuMs();
    const state = await super.load(...given);
    this.#probe.restoreCpuMs ??= cpuMs() - before;
    return state;
  }

  override async save(...given: Parameters<StateStore["save"]>): Promise<ChainRun[]> {
    const before = cpuMs();
    const chains = await super.save(...given);
    this.#probe.saves++;
    this.#probe.saveCpuMs += cpuMs() - before;
    return chains;
  }
}
