import { existsSync } from "node:fs";
import type { Registry } from "prom-client";
import { systemClock } from "../../../shared/adapters/system/clock.ts";
import type { Ack, DecidedEpoch } from "../../../shared/epoch/epoch.ts";
import type { Ledger } from "../../../shared/ports/ledger.ts";
import type { PartitionStatus, Source } from "../../../shared/ports/source.ts";
import { openLedgerToRead, statePaths } from "../../compose.ts";
import type { RunEvent, Watcher } from "../events.ts";
import { phasesOf, stateBytesOf } from "../phases.ts";
import { plannedEnds, readSnapshot, type Snapshot } from "../snapshot.ts";
import { type Instruments, instrumentsIn } from "./instruments.ts";
import { LagAges } from "./lag-ages.ts";

/** What the metrics of a run are about. */
export interface Measured {
  readonly pipeline: string;
  readonly sinks: readonly string[];
  /** Folder of the state. */
  readonly state: string;
}

/** Measures a run, into a registry of prom-client. After `stop` the registry keeps what was told last. */
export function metricsWatcher(registry: Registry, measured: Measured): { watch: Watcher; stop(): Promise<void> } {
  const metrics = new RunMetrics(registry, measured);
  return { watch: (event) => metrics.tell(event), stop: () => metrics.stop() };
}

class RunMetrics {
  readonly #metrics: Instruments;
  readonly #unregister: () => void;
  readonly #state: string;
  readonly #ages = new LagAges();
  #seen: readonly PartitionStatus[] = [];
  #offsets: Source["offsets"] | undefined;

  constructor(registry: Registry, { pipeline, sinks, state }: Measured) {
    this.#state = state;
    [this.#metrics, this.#unregister] = instrumentsIn(registry, pipeline, () => this.#refresh());
    this.#begin(sinks);
  }

  /** A counter that is not there yet has no rate when it comes. */
  #begin(sinks: readonly string[]): void {
    for (const name of [
      ...(["epochflow_records_read_total", "epochflow_bytes_read_total", "epochflow_records_late_total"] as const),
      ...(["epochflow_records_dead_lettered_total", "epochflow_records_skipped_total"] as const),
      ...(["epochflow_attempts_planned_total", "epochflow_attempts_aborted_total"] as const),
      ...(["epochflow_epochs_decided_total", "epochflow_epochs_committed_total"] as const),
      ...(["epochflow_epochs_lost_total", "epochflow_tasks_lost_total", "epochflow_rows_lost_total"] as const),
    ])
      this.#metrics.count(name, 0);
    for (const sink of sinks) {
      this.#metrics.count("epochflow_rows_written_total", 0, { sink });
      this.#metrics.count("epochflow_commit_failures_total", 0, { sink });
    }
    for (const step of ["plan", "operate", "decide", "abort"])
      this.#metrics.count("epochflow_step_failures_total", 0, { step });
  }

  tell(event: RunEvent): void {
    const metrics = this.#metrics;
    if (event.type === "source-seen") {
      const now = systemClock.now();
      for (const { id, high } of event.partitions) this.#ages.look(id, high, now);
      this.#seen = event.partitions;
      this.#offsets = event.offsets;
    } else if (event.type === "epoch-planned") metrics.count("epochflow_attempts_planned_total", 1);
    else if (event.type === "epoch-decided") this.#decided(event.row, event.acks);
    else if (event.type === "epoch-committed") {
      metrics.count("epochflow_epochs_committed_total", 1);
      this.#phase("commit", event.row.decision.decidedAt, event.row.committedAt);
    } else if (event.type === "attempt-aborted") metrics.count("epochflow_attempts_aborted_total", 1);
    else if (event.type === "commit-failed")
      metrics.count("epochflow_commit_failures_total", 1, { sink: event.sink ?? "" });
    else if (event.type === "step-failed") metrics.count("epochflow_step_failures_total", 1, { step: event.step });
  }

  async stop(): Promise<void> {
    await this.#refresh();
    this.#unregister();
  }

  #decided(row: DecidedEpoch, acks: readonly Ack[]): void {
    const metrics = this.#metrics;
    const { counts, decidedAt } = row.decision;
    metrics.count("epochflow_epochs_decided_total", 1);
    metrics.count("epochflow_records_read_total", counts.records);
    metrics.count("epochflow_bytes_read_total", counts.bytes);
    metrics.count("epochflow_records_late_total", counts.late);
    metrics.count("epochflow_records_dead_lettered_total", counts.deadLettered);
    metrics.count("epochflow_records_skipped_total", counts.skipped);
    for (const [sink, rows] of Object.entries(counts.rows))
      metrics.count("epochflow_rows_written_total", rows, { sink });
    const { loss } = row.decision;
    if (loss) {
      metrics.count("epochflow_epochs_lost_total", 1);
      metrics.count("epochflow_tasks_lost_total", loss.shares.length);
      for (const rows of Object.values(loss.rows)) metrics.count("epochflow_rows_lost_total", rows);
    }
    metrics.observe("epochflow_epoch_duration_seconds", Math.max(0, decidedAt - row.plannedAt) / 1000);
    for (const { phase, from, to } of phasesOf(row, acks)) if (phase !== "commit") this.#phase(phase, from, to);
  }

  #phase(phase: string, from: number, to: number | null): void {
    if (to === null) return;
    this.#metrics.observe("epochflow_epoch_phase_duration_seconds", Math.max(0, to - from) / 1000, { phase });
  }

  /** Brings the gauges up to date. A ledger that cannot be read just now leaves them as they were. */
  async #refresh(): Promise<void> {
    try {
      if (!existsSync(statePaths(this.#state).ledger)) return;
      const ledger = openLedgerToRead(this.#state);
      try {
        await this.#show(ledger);
      } finally {
        // Whoever closes it last tidies up, which the run itself must do.
        await ledger.close();
      }
    } catch {}
  }

  async #show(ledger: Ledger): Promise<void> {
    const snapshot = await readSnapshot(ledger);
    if (snapshot === undefined) return;
    const now = systemClock.now();
    this.#showProgress(snapshot, now);
    this.#showLag(snapshot, now);
    const { last } = snapshot;
    const bytes = last && stateBytesOf(await ledger.acks(last));
    if (bytes !== null) this.#metrics.set("epochflow_state_bytes", bytes);
  }

  #showProgress(snapshot: Snapshot, now: number): void {
    const { head, last, next, uncommitted } = snapshot;
    const set = this.#metrics.set;
    const epochs = { planned: next?.epoch ?? head.decided, decided: head.decided, committed: head.committed };
    for (const [status, epoch] of Object.entries(epochs)) set("epochflow_last_epoch", epoch, { status });
    set("epochflow_failures_in_a_row", next?.failures ?? 0);
    set("epochflow_paused", head.status === "paused" ? 1 : 0);
    set("epochflow_stopped", head.status === "stopped" ? 1 : 0);
    const since = uncommitted?.decision.decidedAt;
    set("epochflow_uncommitted_age_seconds", since === undefined ? 0 : Math.max(0, now - since) / 1000);
    const watermark = last?.decision.watermark ?? null;
    if (watermark !== null) {
      set("epochflow_watermark_seconds", watermark / 1000);
      set("epochflow_watermark_delay_seconds", Math.max(0, now - watermark) / 1000);
    }
  }

  #showLag(snapshot: Snapshot, now: number): void {
    const metrics = this.#metrics;
    const unit = this.#offsets ?? snapshot.offsets;
    const name = unit === "bytes" ? "epochflow_partition_lag_bytes" : "epochflow_partition_lag_records";
    metrics.clear(name);
    metrics.clear("epochflow_partition_lag_seconds");
    for (const { id: partition, position, high } of this.#ends(snapshot)) {
      metrics.set(name, Math.max(0, high - position), { partition });
      const ageMs = this.#ages.ageOf(partition, position, now);
      metrics.set("epochflow_partition_lag_seconds", ageMs / 1000, { partition });
    }
  }

  /** Positions are the ledger's. Ends are what this process saw last, which is later than what the last plan saw. */
  #ends(snapshot: Snapshot) {
    const { partitions } = plannedEnds(snapshot);
    if (this.#seen.length === 0) return partitions;
    const known = snapshot.last?.decision.partitions ?? [];
    const positions = new Map(known.map(({ id, position }) => [id, position]));
    return this.#seen.map(({ id, start, high }) => ({ id, position: positions.get(id) ?? start, high }));
  }
}
