import type { Engine } from "../shared/epoch/engine.ts";
import type { LostSoFar } from "../shared/epoch/epoch.ts";
import type { PartitionStatus, Source } from "../shared/ports/source.ts";
import { noProgress, type Progress } from "./options.ts";

type Counted = Progress & { readonly late: number; readonly skipped: number; readonly deadLettered: number };

const nothingLost: LostSoFar = { epochs: 0, shares: 0, rows: 0 };

/** Watches a run: what is decided and committed is read from the ledger, what is under way is reported by tasks. */
export class Tracker {
  private readonly began = performance.now();
  private reportedAt = Number.NEGATIVE_INFINITY;
  private underWay = { records: 0, bytes: 0 };
  private state: Counted = { ...noProgress, late: 0, skipped: 0, deadLettered: 0 };
  private lostSoFar = nothingLost;
  private lostBefore = nothingLost;
  private readonly engine: Engine;
  private readonly report: ((progress: Progress) => void) | undefined;
  private readonly seen: ((partitions: readonly PartitionStatus[]) => void) | undefined;

  /** @param seen is told where partitions end, whenever somebody looks */
  constructor(
    engine: Engine,
    report: ((progress: Progress) => void) | undefined,
    seen?: (partitions: readonly PartitionStatus[]) => void,
  ) {
    this.engine = engine;
    this.state = { ...this.state, offsets: engine.source.offsets };
    this.report = report;
    this.seen = seen;
  }

  async begin(): Promise<void> {
    const head = await this.engine.ledger.head();
    await this.look(head?.decided ?? 0);
    this.state = { ...this.state, committed: head?.committed ?? 0 };
    this.lostBefore = this.lostSoFar;
  }

  /** Of this run (at-most-once), as far as epochs were looked at. */
  get lost(): LostSoFar {
    const [after, before] = [this.lostSoFar, this.lostBefore];
    return {
      epochs: after.epochs - before.epochs,
      shares: after.shares - before.shares,
      rows: after.rows - before.rows,
    };
  }

  get progress(): Counted {
    const { records, bytes } = this.underWay;
    const { state } = this;
    return {
      ...state,
      records: state.records + records,
      bytes: state.bytes + bytes,
      position: Math.min(state.end, state.position + (state.offsets === "bytes" ? bytes : records)),
      elapsedMs: performance.now() - this.began,
    };
  }

  read(records: number, bytes: number): void {
    this.underWay = { records: this.underWay.records + records, bytes: this.underWay.bytes + bytes };
    this.changed();
  }

  /** An attempt is over: what its tasks have read counts only if it was decided. */
  async attemptOver(epoch: number, decided: boolean): Promise<void> {
    this.underWay = { records: 0, bytes: 0 };
    if (decided) {
      const counts = await this.look(epoch);
      const { state } = this;
      this.state = {
        ...state,
        epochs: state.epochs + 1,
        records: state.records + (counts?.records ?? 0),
        bytes: state.bytes + (counts?.bytes ?? 0),
        rows: state.rows + Object.values(counts?.rows ?? {}).reduce((sum, rows) => sum + rows, 0),
        late: state.late + (counts?.late ?? 0),
        skipped: state.skipped + (counts?.skipped ?? 0),
        deadLettered: state.deadLettered + (counts?.deadLettered ?? 0),
      };
    }
    this.changed();
  }

  committed(epoch: number): void {
    this.state = { ...this.state, committed: epoch };
    this.changed();
  }

  /** The source, telling where its partitions end. */
  watch(source: Source): Source {
    return {
      offsets: source.offsets,
      discover: async (known) => {
        const statuses = await source.discover(known);
        this.state = { ...this.state, end: statuses.reduce((sum, one) => sum + one.end, 0) };
        this.changed();
        this.seen?.(statuses.filter(({ isRecord }) => !isRecord));
        return statuses;
      },
      ...(source.awaitMore && { awaitMore: (signal) => source.awaitMore!(signal) }),
      cut: (range, limit) => source.cut(range, limit),
      split: (range, pieceBytes) => source.split(range, pieceBytes),
      read: (range, signal) => source.read(range, signal),
      ...(source.prefetch && { prefetch: (ranges) => source.prefetch!(ranges) }),
      place: async (range, offset) => (await source.place?.(range, offset)) ?? {},
      close: () => source.close(),
    };
  }

  async look(epoch: number) {
    const row = await this.engine.ledger.epoch(epoch);
    if (row?.status !== "decided") return undefined;
    const { partitions, watermark, counts, lostSoFar } = row.decision;
    const position = partitions.reduce((sum, one) => sum + one.position, 0);
    const committed = row.committedAt === null ? this.state.committed : Math.max(this.state.committed, epoch);
    this.state = { ...this.state, decided: epoch, committed, position, watermark };
    this.lostSoFar = lostSoFar ?? nothingLost;
    return counts;
  }

  private changed(): void {
    const now = performance.now();
    if (!this.report || now - this.reportedAt < 100) return;
    this.reportedAt = now;
    this.report(this.progress);
  }
}
