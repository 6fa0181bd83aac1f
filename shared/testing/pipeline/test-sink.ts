import { noTimestamp } from "../../adapters/kafka/record-batch/encode.ts";
import { readHeaders } from "../../adapters/kafka/record-batch/headers.ts";
import { RowFields } from "../../adapters/kafka/sink/row-fields.ts";
import { layoutOf, type OutputOptions } from "../../adapters/output/sink-options.ts";
import { folderOf } from "../../adapters/output/staged-rows.ts";
import { UserCodeError } from "../../errors.ts";
import type { KafkaSinkSettings } from "../../pipeline/connectors/kafka.ts";
import type { SinkDescription } from "../../pipeline/topology.ts";
import type {
  CommitContext,
  RefusedRow,
  RowBatch,
  SinkContext,
  TimeOfRow,
  Transaction,
  TwoPhaseCommitSink,
} from "../../ports/sink.ts";

/** A record of Kafka as a sink writes it. */
export interface EncodedRecord {
  readonly topic: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer>>;
  /** Epoch milliseconds; null: it has none. */
  readonly timestamp: number | null;
}

/** A row, and the record that it became. */
export interface Written {
  readonly row: unknown;
  readonly record?: EncodedRecord;
}
interface Open extends Transaction {
  readonly written: Written[];
}

/** Rows in memory, encoded by the very code that the pipeline's own sink encodes them by, so that what that refuses is refused here. */
export class TestSink implements TwoPhaseCommitSink<unknown, number, number> {
  readonly #committed: Written[];
  readonly #description: SinkDescription;
  readonly #staged: Written[][] = [];

  /** @param committed gets what is committed */
  constructor(description: SinkDescription, committed: Written[]) {
    this.#description = description;
    this.#committed = committed;
  }

  async open(): Promise<void> {}

  async begin(context: SinkContext): Promise<Open> {
    const encode = this.#encoder(context);
    const written: Written[] = [];
    const write = (rows: RowBatch, refused?: RefusedRow, timeOf?: TimeOfRow) => {
      for (const [index, row] of rows.entries())
        try {
          written.push(encode(row, timeOf?.(index)));
        } catch (error) {
          if (!refused || !(error instanceof UserCodeError)) throw error;
          refused(index, error);
        }
    };
    return { written, write, drained: async () => {} };
  }

  async preCommit(transaction: Transaction): Promise<number | undefined> {
    const { written } = transaction as Open;
    return written.length === 0 ? undefined : this.#staged.push(written) - 1;
  }

  async commit({ unit }: CommitContext<number>): Promise<void> {
    this.#committed.push(...(this.#staged[unit] ?? []));
  }

  async abort(): Promise<void> {}

  async close(): Promise<void> {}

  #encoder(context: SinkContext): (row: unknown, time: number | undefined) => Written {
    const { kind, options } = this.#description;
    if (kind === "kafka") return recordEncoder(options as unknown as KafkaSinkSettings, context);
    return kind === "files" ? lineEncoder(options, context) : (row) => ({ row });
  }
}

/** A row is what its reader gets: of JSON the value, in which a bigint has become a text, and else the line. */
function lineEncoder(options: OutputOptions, context: SinkContext): (row: unknown) => Written {
  const layout = layoutOf(options);
  const isJson = layout.format.extension.startsWith("jsonl");
  return (row) => {
    const line = layout.format.line(row, context);
    folderOf(layout, row, context);
    return { row: isJson ? JSON.parse(line) : line.replace(/\r?\n$/, "") };
  };
}

function recordEncoder(settings: KafkaSinkSettings, context: SinkContext) {
  const fields = new RowFields(settings, context);
  const bytes = (given: string | Uint8Array | null) => (given === null ? null : Buffer.from(given));
  return (row: unknown, time: number | undefined): Written => {
    const timestamp = fields.timestamp(row, time);
    const headers = readHeaders(Buffer.from(fields.headers(row)), 0);
    const record = {
      topic: fields.topic(row),
      key: bytes(fields.key(row)),
      value: bytes(fields.value(row)),
      headers: Object.fromEntries(headers.map(([name, value]) => [name, Buffer.from(value ?? "")])),
      timestamp: timestamp === noTimestamp ? null : timestamp,
    };
    return { row, record };
  };
}
