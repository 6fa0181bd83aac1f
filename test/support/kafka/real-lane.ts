import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileSystemObjectStore } from "../../../shared/adapters/filesystem/object-store.ts";
import type { KafkaClient } from "../../../shared/adapters/kafka/client.ts";
import { systemClock } from "../../../shared/adapters/system/clock.ts";
import { type Around, Lane, type LaneLedger, type LaneRow } from "./lane.ts";

/** Where a lane on a real cluster lies: a topic of two partitions, and a folder with what is staged, and the ledger. */
export interface LanePlace {
  readonly topic: string;
  readonly folder: string;
  readonly transactionTimeoutMs?: number;
}

/** A lane that processes share. The ledger is a file, read anew for each question. */
export function realLane({ topic, folder, transactionTimeoutMs }: LanePlace, client: KafkaClient): Lane {
  return new Lane({
    client: (around) => watched(client, around),
    objects: new FileSystemObjectStore(join(folder, "objects")),
    clock: systemClock,
    ledger: fileLedger(join(folder, "ledger.json")),
    settings: { topic, markerTopic: topic, partition: ({ n }) => n % 2 },
    ...(transactionTimeoutMs && { transactionTimeoutMs }),
  });
}

/** A client whose calls go through `around`. */
export function watched(client: KafkaClient, around: Around): KafkaClient {
  return new Proxy(client, {
    get(_, method: keyof KafkaClient) {
      const call = client[method] as (...given: unknown[]) => Promise<unknown>;
      return (...given: unknown[]) => around(method, () => call.apply(client, given));
    },
  });
}

/** One writer at a time; whoever reads gets one whole state. */
function fileLedger(file: string): LaneLedger {
  const read = (): { committed: number; rows: [number, LaneRow][] } =>
    existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { committed: 0, rows: [] };
  const write = (state: ReturnType<typeof read>) => {
    writeFileSync(`${file}.new`, JSON.stringify(state));
    renameSync(`${file}.new`, file);
  };
  return {
    rows: () => new Map(read().rows),
    write(epoch, row) {
      const { committed, rows } = read();
      const others = rows.filter(([one]) => one !== epoch);
      write({ committed, rows: row ? [...others, [epoch, row]] : others });
    },
    committed: () => read().committed,
    setCommitted: (committed) => write({ ...read(), committed }),
  };
}
