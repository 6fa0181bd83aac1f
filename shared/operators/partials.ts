import { InfrastructureError } from "../errors.ts";
import { type ByteReader, MalformedError } from "../state/bytes.ts";
import { decodeEntries, type Entries, encodeEntries } from "../state/entries.ts";
import { GroupedObjectWriter } from "../state/grouped-object.ts";
import { byGroup } from "../state/key-order.ts";
import { type GetRange, openGroups } from "../state/open-groups.ts";

/** Accumulators of one window of one operator. */
export interface WindowPartial {
  readonly operator: string;
  /** Start of the window, epoch milliseconds. */
  readonly start: number;
  readonly entries: Entries;
}

/** What a sub-range came to, before it is merged with others. An operator's window may come in several pieces, of different keys. */
export type Partials = readonly WindowPartial[];

/*
 * A shuffle object (grouped-object.ts) has, for each key group, pieces: the number of the sub-range + 1 as a varint, the operator's
 * id, the window's start, and entries (entries.ts). 0 ends it. The object's note is the number of sub-ranges.
 */
const magic = "EFSH";

/** One shuffle object: what a task's sub-ranges came to, in their order. */
export function encodePartials(partials: readonly Partials[], keyGroups: number): Uint8Array[] {
  const object = new GroupedObjectWriter(magic, partials.length);
  const pieces = partials.flatMap((windows, subRange) =>
    windows.map((window) => ({ subRange, window, grouped: byGroup(window.entries, keyGroups) })),
  );
  for (let group = 0; group < keyGroups; group++) {
    const present = pieces.filter(({ grouped: { starts } }) => starts[group]! < starts[group + 1]!);
    if (present.length === 0) continue;
    object.begin(group);
    const { writer } = object;
    for (const { subRange, window, grouped } of present) {
      writer.varint(subRange + 1);
      writer.text(window.operator);
      writer.float64(window.start);
      encodeEntries(writer, window.entries, grouped.order, grouped.starts[group]!, grouped.starts[group + 1]!);
    }
    writer.varint(0);
  }
  return object.finish();
}

/**
 * Reads the key groups `[from, to)` of a shuffle object, and no more bytes than it must: one element for each sub-range of the task
 * that wrote it, in order, empty ones included.
 *
 * @param name the object's key, for messages
 * @throws InfrastructureError `shuffle-unreadable` if it is missing or damaged: the next attempt writes another
 */
export async function readPartials(
  get: GetRange,
  { from, to }: { readonly from: number; readonly to: number },
  name = "a shuffle object",
): Promise<Partials[]> {
  try {
    const object = await openGroups(get, magic);
    if (object === undefined) throw new MalformedError("it is missing");
    return decodePartials(object.note, await object.read((group) => from <= group && group < to));
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    throw new InfrastructureError("shuffle-unreadable", `Cannot read ${name}: ${error.message}`, {
      wayOut: "The epoch is tried again, and writes another.",
      cause: error,
    });
  }
}

function decodePartials(note: number, groups: ReadonlyMap<number, ByteReader>): Partials[] {
  const partials: WindowPartial[][] = Array.from({ length: note }, () => []);
  for (const reader of groups.values()) {
    for (let subRange = reader.varint(); subRange > 0; subRange = reader.varint()) {
      const windows = partials[subRange - 1];
      if (windows === undefined) throw new MalformedError("it has a sub-range too many");
      windows.push(decodeWindow(reader));
    }
  }
  return partials;
}

function decodeWindow(reader: ByteReader): WindowPartial {
  return { operator: reader.text(), start: reader.float64(), entries: decodeEntries(reader) };
}
