import type { EpochRow } from "../../../shared/epoch/epoch.ts";
import type { Fingerprint } from "../../../shared/pipeline/fingerprint.ts";
import type { Topology } from "../../../shared/pipeline/topology.ts";
import type { Ledger } from "../../../shared/ports/ledger.ts";
import { engineVersion } from "../../engine-version.ts";
import type { RunEvent } from "../events.ts";
import { plannedEnds, readSnapshot, type Snapshot } from "../snapshot.ts";
import { epochData } from "./epoch-data.ts";
import { graphOf, graphOfFingerprint } from "./graph.ts";
import { Incidents } from "./incidents.ts";
import type { EpochData, EpochDetail, PageData, PartitionData } from "./page-data.ts";

export interface OpenLedger {
  readonly ledger: Ledger;
  close(): Promise<void>;
}

/** A pipeline that a page shows. */
export interface Shown {
  readonly worker: PageData["worker"];
  readonly places: Readonly<Record<string, string>>;
  /** Absent: it is known by its ledger alone. */
  readonly topology?: Topology | undefined;
  /** Epochs that a page gets at first; it asks for older ones. */
  readonly history: number;
  /** Opens the ledger for a look; undefined before there is one. */
  openLedger(): Promise<OpenLedger | undefined>;
  /** Whether anybody works on it; may throw where that cannot be told. */
  atWork(): Promise<boolean>;
}

/** What the page is told, kept between two looks: of what is committed nothing changes any more, so it is read once. */
export class Feed {
  readonly #shown: Shown;
  readonly #epochs = new Map<number, EpochData>();
  readonly #incidents = new Incidents();
  /** A run tells what happens to it; otherwise it is found by looking. */
  #isTold = false;
  #last: PageData;
  #ended: string | null = null;

  constructor(shown: Shown) {
    this.#shown = shown;
    this.#last = nothingYet(shown);
  }

  /** What happened in the run that serves the page. */
  tell(event: RunEvent): void {
    this.#isTold = true;
    this.#incidents.tell(event, Date.now());
    if (event.type === "run-ended") this.#ended = event.result.outcome;
  }

  /** All that is known, as of the last look. */
  get all(): PageData {
    const epochs = [...this.#epochs.values()].sort((one, other) => one.epoch - other.epoch).slice(-this.#shown.history);
    return { ...this.#last, epochs, all: true };
  }

  /** Looks at the ledger. Gives what the page does not know yet. What keeps it from being read is told as it is. */
  async look(): Promise<PageData> {
    let open: OpenLedger | undefined;
    try {
      open = await this.#shown.openLedger();
      const snapshot = open && (await readSnapshot(open.ledger));
      const now = Date.now();
      if (!open || !snapshot) return this.#tell({ ...this.#last, now, ended: this.#ended, epochs: [] });
      const epochs = await this.#readEpochs(open.ledger, snapshot);
      const atWork = await this.#shown.atWork().catch(() => null);
      return this.#tell({ ...this.#last, ...dataOf(snapshot, this.#shown), now, atWork, epochs, ended: this.#ended });
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return this.#tell({ ...this.#last, now: Date.now(), ended: this.#ended, epochs: [] }, problem);
    } finally {
      await open?.close();
    }
  }

  /** Epochs before one, for a page that looks back. */
  async before(epoch: number, count = 300): Promise<EpochData[]> {
    return await this.#withLedger(async (ledger) => {
      const rows = await ledger.epochs({ from: Math.max(1, epoch - count), to: epoch - 1 });
      return await Promise.all(rows.map(async (row) => this.#epochs.get(row.epoch) ?? (await read(ledger, row))));
    }, []);
  }

  /** Undefined: there is no such epoch, or none any more. */
  async detail(epoch: number): Promise<EpochDetail | undefined> {
    return await this.#withLedger(async (ledger) => {
      const row = await ledger.epoch(epoch);
      if (row === undefined) return undefined;
      const units = row.status === "decided" ? await ledger.units(epoch) : [];
      return {
        ...(await read(ledger, row)),
        ranges: row.plan.partitions.filter(({ from, to }) => to > from).map(({ id, from, to }) => ({ id, from, to })),
        units: units.map(({ sink, key, status }) => ({ sink, key, status })),
        planWatermark: row.plan.watermark,
      };
    }, undefined);
  }

  async #withLedger<T>(work: (ledger: Ledger) => Promise<T>, otherwise: T): Promise<T> {
    const open = await this.#shown.openLedger();
    if (open === undefined) return otherwise;
    try {
      return await work(open.ledger);
    } finally {
      await open.close();
    }
  }

  #tell(data: Omit<PageData, "incidents" | "problem" | "all">, problem: string | null = null): PageData {
    this.#last = { ...data, incidents: this.#incidents.all, problem, all: false, epochs: [] };
    return { ...this.#last, epochs: data.epochs };
  }

  /** Rows that are new or may have changed: from the first one on that was not final at the last look. */
  async #readEpochs(ledger: Ledger, { head }: Snapshot): Promise<EpochData[]> {
    const { history } = this.#shown;
    const open = [...this.#epochs.values()].filter(({ status }) => !isFinal(status)).map(({ epoch }) => epoch);
    const known = this.#epochs.size === 0 ? 0 : Math.max(...this.#epochs.keys());
    const from = Math.max(1, head.decided + 2 - history, Math.min(known + 1, ...open));
    const changed: EpochData[] = [];
    const rows = await ledger.epochs({ from, to: head.decided + 1 });
    if (!this.#isTold) for (const row of rows) this.#incidents.look(row);
    for (const data of await Promise.all(rows.map((row) => read(ledger, row)))) {
      if (JSON.stringify(data) === JSON.stringify(this.#epochs.get(data.epoch))) continue;
      this.#epochs.set(data.epoch, data);
      changed.push(data);
    }
    for (const epoch of this.#epochs.keys()) if (epoch < head.decided - 2 * history) this.#epochs.delete(epoch);
    return changed;
  }
}

const isFinal = (status: EpochData["status"]) => status === "committed" || status === "restored";

async function read(ledger: Ledger, row: EpochRow): Promise<EpochData> {
  return epochData(row, await ledger.acks({ epoch: row.epoch, attempt: row.attempt }));
}

function nothingYet({ worker, places, topology }: Shown): PageData {
  return {
    ...{ now: Date.now(), pipeline: topology?.name ?? "", uid: "", places, version: engineVersion(), worker },
    ...{ atWork: null, status: "running", error: null, decided: 0, committed: 0, offsets: "records", watermark: null },
    ...{ uncommitted: null, lost: null, partitions: [], endsAsOf: null, epochs: [], all: true, incidents: [] },
    graph: topology ? graphOf(topology) : { nodes: [], edges: [], partial: true },
    problem: null,
    ended: null,
  };
}

function dataOf(snapshot: Snapshot, { topology }: Shown) {
  const { head, last, uncommitted, offsets } = snapshot;
  const { asOf } = plannedEnds(snapshot);
  const failure = uncommitted?.commitFailure ?? null;
  return {
    ...{ pipeline: head.pipeline, uid: head.uid, status: head.status, error: head.error },
    ...{ decided: head.decided, committed: head.committed, offsets, endsAsOf: asOf },
    watermark: last?.decision.watermark ?? null,
    uncommitted: uncommitted && {
      epoch: uncommitted.epoch,
      decidedAt: uncommitted.decision.decidedAt,
      sinks: uncommitted.decision.sinks,
      failure: failure && { sink: failure.sink, count: failure.count, since: failure.since, at: failure.at },
      error: failure?.error ?? null,
    },
    lost: last?.decision.lostSoFar ?? null,
    partitions: partitionsOf(snapshot, topology),
    graph: topology ? graphOf(topology) : graphOfFingerprint(JSON.parse(head.fingerprint) as Fingerprint),
  };
}

function partitionsOf(snapshot: Snapshot, topology: Topology | undefined): PartitionData[] {
  const [node] = topology?.nodes ?? [];
  const outOfOrderMs = node?.kind === "source" ? node.source.outOfOrderMs : null;
  return plannedEnds(snapshot).partitions.map((partition) => {
    const { maxEventTime } = partition;
    const watermark = maxEventTime === null || outOfOrderMs === null ? null : maxEventTime - outOfOrderMs;
    return { ...partition, watermark };
  });
}
