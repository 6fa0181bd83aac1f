import type { RecordBatch, Source, SourceRange } from "../../../shared/ports/source.ts";
import type { OracleRecord } from "./oracle.ts";

/** All of a range, copied, as the Java oracle gives records; a header whose value is null is an empty one in ours. */
export async function readRange(source: Source, range: SourceRange): Promise<OracleRecord[]> {
  const records: OracleRecord[] = [];
  const partition = Number(range.id.slice(range.id.lastIndexOf("/") + 1));
  for await (const batch of source.read(range))
    for (let row = 0; row < batch.count; row++) records.push(recordOf(batch, row, partition));
  return records;
}

export function recordOf(batch: RecordBatch, row: number, partition: number): OracleRecord {
  const bytes = (start: number, end: number) => (start < 0 ? null : Buffer.from(batch.bytes.subarray(start, end)));
  return {
    partition,
    offset: batch.offsets[row]!,
    timestamp: batch.timestamps![row]!,
    key: bytes(batch.keyStart![row]!, batch.keyEnd![row]!),
    value: bytes(batch.valueStart[row]!, batch.valueEnd[row]!),
    headers: batch.headers!(row).map(([name, value]) => [name, value && Buffer.from(value)]),
  };
}
