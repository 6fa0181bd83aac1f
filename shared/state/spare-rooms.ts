import type { Room } from "./window-state.ts";

/** Keys, of all rooms together, for which room is kept: some 20 MB. */
const mostKeys = 2 ** 19;

/** Rooms of windows that are gone, for those that come: windows mostly have about as many keys as those before them, and new memory costs more than to fill it. */
export class SpareRooms {
  readonly #rooms: Room[] = [];
  #keys = 0;

  give(room: Room): void {
    const { capacity } = room.keys;
    if (this.#keys + capacity > mostKeys) return;
    for (const column of room.columns) if (Array.isArray(column)) column.length = 0; // what accumulators hold
    this.#keys += capacity;
    this.#rooms.push(room);
  }

  take(): Room | undefined {
    const room = this.#rooms.pop();
    if (room !== undefined) this.#keys -= room.keys.capacity;
    return room;
  }
}
