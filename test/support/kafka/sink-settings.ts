import type { KafkaSinkSettings } from "../../../shared/pipeline/connectors/kafka.ts";
import type { Encoder } from "../../../shared/pipeline/topology.ts";
import type { Clock } from "../../../shared/ports/clock.ts";

export interface Row {
  readonly n: number;
  readonly key?: string;
}

const asJson: Encoder<unknown> = { name: "json", encode: (row) => JSON.stringify(row) };

/** A sink of rows with keys to the topic "out". */
export function settingsOf<T = Row>(given: Partial<KafkaSinkSettings<T>> = {}): KafkaSinkSettings<T> {
  return {
    connection: { brokers: ["unused:9092"], clientId: "test" },
    topic: "out",
    markerTopic: "out",
    key: (row) => (row as Partial<Row>).key ?? null,
    value: asJson,
    headers: undefined,
    partition: undefined,
    compression: "none",
    lanes: 1,
    timestamp: undefined,
    epochHeader: undefined,
    ...given,
  };
}

/** Sleep takes no time, and passes it. */
export function hastyClock(): Clock & { pass(ms: number): void } {
  let now = 1_700_000_000_000;
  return {
    now: () => now,
    sleep: (ms) => {
      now += ms;
      return new Promise((resolve) => setImmediate(resolve));
    },
    pass: (ms) => {
      now += ms;
    },
  };
}
