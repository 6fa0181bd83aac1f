import { parseObjectKey } from "../../epoch/names.ts";
import { InfrastructureError } from "../../errors.ts";
import { type PackedPartials, packPartials, unpackPartials } from "../../operators/packed-partials.ts";
import type { Partials } from "../../operators/partials.ts";
import type { Shuffle } from "../../ports/shuffle.ts";
import type { GroupRange } from "../../state/stage-state.ts";

/** One task's part of what another has shuffled, under the key that its ack names. */
export interface Parcel {
  readonly key: string;
  readonly packed: PackedPartials;
}

/**
 * The shuffle of tasks in one process: no file, no compression, no checksum, no hash computed again. Each thread has one; parcels go from one to another as messages, which
 * transfer their buffers.
 */
export class MemoryShuffle implements Shuffle {
  readonly #keyGroups: number;
  #parcels: Parcel[] = [];

  constructor(keyGroups: number) {
    this.#keyGroups = keyGroups;
  }

  async put(key: string, partials: readonly Partials[], tasks: readonly GroupRange[]): Promise<void> {
    this.receive(packPartials(partials, this.#keyGroups, tasks).map((packed) => ({ key, packed })));
  }

  async get(key: string, { from, to }: GroupRange): Promise<readonly Partials[]> {
    const isWanted = ({ key: of, packed: { groups } }: Parcel) =>
      of === key && groups.from === from && groups.to === to;
    const parcel = this.#parcels.find(isWanted);
    if (parcel) return unpackPartials(parcel.packed);
    throw new InfrastructureError("shuffle-unreadable", `Cannot read ${key}: the thread that had it has ended`, {
      wayOut: "The epoch is tried again, and makes it anew.",
    });
  }

  /** Gives away all that is here, in the order of keys and tasks. */
  take(): readonly Parcel[] {
    const parcels = this.#parcels;
    this.#parcels = [];
    return parcels;
  }

  /** Adds parcels. Those of other attempts go: one epoch is processed after the other. */
  receive(parcels: readonly Parcel[]): void {
    const [first] = parcels;
    if (first === undefined) return;
    const attempt = attemptOf(first.key);
    this.#parcels = [...this.#parcels.filter(({ key }) => attemptOf(key) === attempt), ...parcels];
  }
}

function attemptOf(key: string): string {
  const { epoch, attempt } = parseObjectKey(key) ?? {};
  return `${epoch}-${attempt}`;
}
