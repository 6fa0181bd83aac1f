import { MemoryObjectStore } from "../../../shared/adapters/memory/object-store.ts";
import type { KafkaSinkSettings } from "../../../shared/pipeline/connectors/kafka.ts";
import { FakeKafka, type Interference } from "./fake-kafka.ts";
import { Lane, type LaneLedger, type LaneRow } from "./lane.ts";
import { hastyClock, type Row } from "./sink-settings.ts";

/** A lane in memory. */
export class LaneWorld extends Lane {
  readonly kafka: FakeKafka;
  readonly objects: MemoryObjectStore;
  readonly clock: ReturnType<typeof hastyClock>;

  constructor(settings: Partial<KafkaSinkSettings<Row>> = {}, partitions = 2, clock = hastyClock()) {
    const kafka = new FakeKafka();
    const objects = new MemoryObjectStore();
    super({
      client: (around) => kafka.client(around as Interference),
      objects,
      clock,
      ledger: memoryLedger(),
      settings: { partition: ({ n }) => n % partitions, ...settings },
    });
    this.kafka = kafka;
    this.objects = objects;
    this.clock = clock;
    kafka.createTopic("out", partitions);
  }

  /** Numbers of the rows that readers see, by partition. */
  seen(): number[][] {
    return this.kafka.read("out").map((records) => records.map(({ value }) => JSON.parse(value!.toString()).n));
  }
}

function memoryLedger(): LaneLedger {
  const rows = new Map<number, LaneRow>();
  let committed = 0;
  return {
    rows: () => rows,
    write: (epoch, row) => void (row ? rows.set(epoch, row) : rows.delete(epoch)),
    committed: () => committed,
    setCommitted: (epoch) => {
      committed = epoch;
    },
  };
}
