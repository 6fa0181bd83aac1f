import type { RecordBatch, Source, SourceRange } from "../ports/source.ts";

/** Ranges that are open at a time: enough that a source far away is never waited for between two small ones. */
const mostOpen = 4;

/** Ranges with their records, in order; each is read to its end before the next is asked for. Some are opened before their turn; what is open when the consumer ends is given up. */
export async function* readAhead(
  source: Source,
  ranges: readonly SourceRange[],
): AsyncGenerator<{ range: SourceRange; batches: AsyncIterable<RecordBatch> }> {
  const stop = new AbortController();
  const open: AsyncIterable<RecordBatch>[] = [];
  try {
    for (const [index, range] of ranges.entries()) {
      for (let next = index + open.length; next < Math.min(index + mostOpen, ranges.length); next++)
        open.push(source.read(ranges[next]!, stop.signal));
      yield { range, batches: open.shift()! };
    }
  } finally {
    stop.abort();
  }
}
