import type { Parcel } from "../shared/adapters/memory/shuffle.ts";
import type { TaskName } from "../shared/epoch/plan.ts";

/** Parcels on their way from the tasks of one stage to those of the next, which begin when all of these are done. */
export class ParcelRoom {
  private of = "";
  private readonly byTask = new Map<number, Parcel[]>();

  /** @param parcels one for each task of the next stage, or none */
  add(from: TaskName, parcels: readonly Parcel[]): void {
    const attempt = `${from.epoch}-${from.attempt}`;
    if (attempt !== this.of) this.byTask.clear();
    this.of = attempt;
    for (const [task, parcel] of parcels.entries()) this.byTask.set(task, [...(this.byTask.get(task) ?? []), parcel]);
  }

  /** A task that is tried again in its thread has them there. */
  take({ stage, task }: TaskName): readonly Parcel[] {
    const parcels = stage > 0 ? this.byTask.get(task) : undefined;
    if (parcels) this.byTask.delete(task);
    return parcels ?? [];
  }
}

/** To be moved to another thread, not copied. */
export const buffersOf = (parcels: readonly Parcel[]): ArrayBuffer[] => parcels.map(({ packed }) => packed.buffer);
