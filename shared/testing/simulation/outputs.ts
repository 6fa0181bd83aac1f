import { digest } from "../../epoch/digest.ts";
import type { Unit } from "../../epoch/epoch.ts";
import type { Json } from "../../json.ts";
import type { Broker } from "./broker.ts";
import type { Folder, PreparedFile } from "./files-sink.ts";
import { type LaneUnit, laneOf, partitionOf, transactionalId } from "./lane-sink.ts";
import type { Output } from "./reference.ts";

interface Place {
  readonly pipeline: string;
  readonly uid: string;
  /** Sinks on Kafka; the others are folders. */
  readonly lanes: ReadonlySet<string>;
  readonly folders: ReadonlyMap<string, Folder>;
  readonly broker: Broker;
  readonly objects: ReadonlyMap<string, unknown>;
  /** By epoch. */
  readonly expected: ReadonlyMap<number, Output>;
  violated(invariant: string, message: string): void;
}

/** The readers of the output, who look after every effect: one that follows manifests, one that lists files, one read_committed consumer a partition. */
export class OutputReaders {
  readonly #place: Place;
  /** Files and manifests seen, by sink. */
  readonly #seen = new Map<string, { files: number; manifests: number; last: number }>();
  /** Of each Kafka partition: rows consumed, and the epochs that they are of. */
  readonly #consumed = new Map<string, { rows: number; epoch: number }>();
  /** Units by epoch, sink and key; and their sinks. */
  readonly #abandoned = new Set<string>();
  readonly #told: { epoch: number; sink: string; units: readonly Unit[]; lost: number; committed: number }[] = [];
  /** Transactions that the broker had completed at the last look. */
  #completed = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  abandoned(epoch: number, { sink, key }: Unit): void {
    this.#abandoned.add(`${epoch}/${sink}`).add(`${epoch}/${sink}/${key}`);
  }

  /** A person who gave units up was told that so many were lost, and so many committed; of the others that nobody can tell. */
  told(epoch: number, sink: string, units: readonly Unit[], answer: { lost: number; committed: number }): void {
    if (this.#place.lanes.has(sink)) this.#told.push({ epoch, sink, units, ...answer });
  }

  isVisible(epoch: number, { sink, key, unit }: Unit): boolean {
    const { lanes, broker } = this.#place;
    if (lanes.has(sink)) return broker.isCommitted(this.#group(sink, key), epoch);
    const { file, digest: expected } = unit as unknown as PreparedFile;
    const text = this.#place.folders.get(sink)?.files.get(file);
    return text !== undefined && digest(text as Json) === expected;
  }

  isReadable(epoch: number, unit: Unit): boolean {
    const { lanes, objects, folders } = this.#place;
    if (lanes.has(unit.sink)) return (unit.unit as LaneUnit).batches.every(({ object }) => objects.has(object));
    const { staged } = unit.unit as unknown as PreparedFile;
    return folders.get(unit.sink)?.staged.has(staged) === true || this.isVisible(epoch, unit);
  }

  /** @param committed HEAD.committed */
  look(committed: number): void {
    for (const [sink, folder] of this.#place.folders) this.#lookAtFolder(sink, folder, committed);
    const { broker } = this.#place;
    if (broker.completed === this.#completed) return;
    this.#completed = broker.completed;
    for (const partition of broker.partitions()) this.#consume(partition, committed);
  }

  /** At the end: everything that was committed has been seen. */
  finish(committed: number): void {
    const { expected, lanes, folders, broker } = this.#place;
    for (const [epoch, output] of expected) {
      if (epoch > committed) continue;
      for (const [sink, rows] of output)
        if (!lanes.has(sink) && rows.length > 0 && !this.#abandoned.has(`${epoch}/${sink}`))
          this.#must(
            "I4",
            folders.get(sink)?.manifests.has(epoch) === true,
            `epoch ${epoch} of ${sink} has no manifest`,
          );
    }
    for (const { epoch, sink, units, lost, committed: least } of this.#told) {
      const visible = units.filter((unit) => this.isVisible(epoch, unit)).length;
      this.#must(
        "I4",
        visible >= least && visible <= units.length - lost,
        `epoch ${epoch} of ${sink} was told to be lost, and became visible`,
      );
    }
    for (const sink of lanes)
      for (const partition of [0, 1, 2]) {
        const all = [...expected].flatMap(([epoch, output]) =>
          epoch > committed || this.#isLost(epoch, sink, partition) ? [] : rowsFor(output, sink, partition),
        );
        const seen = broker.readCommitted(`${sink}-${partition}`).length;
        this.#must("I4", seen === all.length, `${sink}-${partition} has ${seen} rows, and should have ${all.length}`);
      }
  }

  #lookAtFolder(sink: string, { files, manifests }: Folder, committed: number): void {
    const seen = this.#seen.get(sink) ?? { files: 0, manifests: 0, last: 0 };
    this.#seen.set(sink, seen);
    if (files.size === seen.files && manifests.size === seen.manifests) return;
    for (const [name] of [...files].slice(seen.files)) {
      const epoch = Number(name.split(".")[0]);
      this.#must(
        "I2",
        this.#place.expected.has(epoch),
        `file ${name} of ${sink} is visible, and its epoch is not decided`,
      );
      this.#must("I4", epoch <= committed + 1, `file ${name} of ${sink} is visible before its turn`);
    }
    seen.files = files.size;
    for (const [epoch, names] of [...manifests].slice(seen.manifests)) {
      this.#must("I4", epoch > seen.last, `the manifest of epoch ${epoch} of ${sink} comes after that of ${seen.last}`);
      this.#must("I4", epoch <= committed + 1, `the manifest of epoch ${epoch} of ${sink} comes before its turn`);
      seen.last = epoch;
      if (this.#abandoned.has(`${epoch}/${sink}`)) continue;
      const rows = names.flatMap((name) => files.get(name)?.split("\n") ?? [`(${name} is missing)`]);
      this.#compare(`epoch ${epoch} of ${sink}`, rows, this.#place.expected.get(epoch)?.get(sink) ?? []);
    }
    seen.manifests = manifests.size;
  }

  #consume(partition: string, committed: number): void {
    const at = partition.lastIndexOf("-");
    const sink = partition.slice(0, at);
    const number = Number(partition.slice(at + 1));
    const seen = this.#consumed.get(partition) ?? { rows: 0, epoch: 0 };
    this.#consumed.set(partition, seen);
    const rows = this.#place.broker.readCommitted(partition);
    if (rows.length === seen.rows) return;
    const fresh = rows.slice(seen.rows);
    seen.rows = rows.length;
    for (let taken = 0; taken < fresh.length; ) {
      seen.epoch++;
      const output = this.#place.expected.get(seen.epoch);
      this.#must("I2", output !== undefined, `${partition} shows rows of epoch ${seen.epoch}, which is not decided`);
      if (!output) return;
      const expected = rowsFor(output, sink, number);
      if (expected.length === 0 || this.#isLost(seen.epoch, sink, number)) continue;
      this.#must("I4", seen.epoch <= committed + 1, `${partition} shows epoch ${seen.epoch} before its turn`);
      this.#compare(`epoch ${seen.epoch} in ${partition}`, fresh.slice(taken, taken + expected.length), expected);
      taken += expected.length;
    }
  }

  /** Abandoned, and not visible all the same. */
  #isLost(epoch: number, sink: string, partition: number): boolean {
    const key = laneOf(partition);
    if (!this.#abandoned.has(`${epoch}/${sink}/${key}`)) return false;
    return !this.#place.broker.isCommitted(this.#group(sink, key), epoch);
  }

  #group(sink: string, key: string): string {
    const { pipeline, uid } = this.#place;
    return transactionalId({ pipeline, uid, sink, key });
  }

  #compare(what: string, rows: readonly string[], expected: readonly string[]): void {
    const at = expected.findIndex((row, index) => row !== rows[index]);
    if (at < 0 && rows.length === expected.length) return;
    const index = at < 0 ? expected.length : at;
    const text = `row ${index} of ${what} is ${rows[index] ?? "not there"}, and should be ${expected[index] ?? "not there"}`;
    this.#must("I6", false, text);
  }

  #must(invariant: string, holds: boolean, message: string): void {
    if (!holds) this.#place.violated(invariant, message);
  }
}

function rowsFor(output: Output, sink: string, partition: number): string[] {
  return (output.get(sink) ?? []).filter((row) => partitionOf(JSON.parse(row)) === partition);
}
