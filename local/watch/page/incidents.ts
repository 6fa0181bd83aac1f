import type { EpochRow } from "../../../shared/epoch/epoch.ts";
import type { RunEvent } from "../events.ts";
import type { Incident } from "./page-data.ts";

/** Older ones are forgotten. */
const mostIncidents = 120;

/** What went wrong in a run, and what it waited for: told by the run itself, or else as far as the ledger shows it to whoever looks now and then. */
export class Incidents {
  #all: Incident[] = [];
  readonly #plannedAt = new Map<string, number>();
  readonly #known = new Set<string>();
  /** Something was done since the last wait. */
  #hasWorked = false;

  get all(): readonly Incident[] {
    return this.#all;
  }

  tell(event: RunEvent, now: number): void {
    if (event.type === "epoch-planned") {
      this.#hasWorked = true;
      const { epoch, attempt, plannedAt } = event.row;
      if (attempt === 1) this.#plannedAt.clear();
      this.#plannedAt.set(`${epoch}/${attempt}`, plannedAt);
    } else if (event.type === "attempt-aborted") {
      const { epoch, attempt } = event.id;
      const from = this.#plannedAt.get(`${epoch}/${attempt}`) ?? now;
      const what = `attempt ${attempt} of epoch ${epoch} aborted`;
      this.#add({ kind: "aborted", from, to: now, epoch, attempt, what, error: event.error });
    } else if (event.type === "commit-failed") {
      const { epoch, sink, error } = event;
      const what = `commit of epoch ${epoch} failed${sink === undefined ? "" : ` at sink ${sink}`}`;
      this.#add({ kind: "commit-failed", from: now, to: now, epoch, what, error });
    } else if (event.type === "step-failed" && event.step !== "operate") {
      const { epoch } = event.place;
      const place = epoch === undefined ? {} : { epoch };
      this.#add({
        kind: "step-failed",
        from: now,
        to: now,
        ...place,
        what: `${event.step} failed`,
        error: event.error,
      });
    } else if (event.type === "waiting")
      this.#add({ kind: "waiting", from: now, to: now + event.seconds * 1000, what: "waiting", error: null });
    else if (event.type === "handed-over")
      this.#add({ kind: "handed-over", from: now, to: now, what: `handed over to ${event.to}`, error: null });
  }

  /** Looks at a row that may have failed. */
  look(row: EpochRow): void {
    const { epoch, attempt, failure, plannedAt, earlier = [] } = row;
    for (const { attempt, plannedAt, replacedAt, error } of earlier)
      if (this.#isNew(`${epoch}/${attempt}`)) {
        const what = `attempt ${attempt} of epoch ${epoch} failed`;
        this.#add({ kind: "aborted", from: plannedAt, to: replacedAt, epoch, attempt, what, error });
      }
    if (failure && this.#isNew(`${epoch}/${attempt}`)) {
      const what = `attempt ${attempt} of epoch ${epoch} failed`;
      // When it failed the ledger does not say.
      this.#add({ kind: "aborted", from: plannedAt, to: plannedAt, epoch, attempt, what, error: failure.error });
    }
    const commit = row.status === "decided" && row.committedAt === null ? row.commitFailure : null;
    if (commit && this.#isNew(`${epoch} ${commit.count}`)) {
      const what = `commit of epoch ${epoch} failed at sink ${commit.sink}`;
      this.#add({ kind: "commit-failed", from: commit.at, to: commit.at, epoch, what, error: commit.error });
    }
  }

  #isNew(key: string): boolean {
    if (this.#known.has(key)) return false;
    this.#known.add(key);
    return true;
  }

  /** Waits that follow each other, as of an idle run, are one. */
  #add(incident: Incident): void {
    const last = this.#all.at(-1);
    if (!this.#hasWorked && incident.kind === "waiting" && last?.kind === "waiting" && incident.from - last.to < 250)
      this.#all = [...this.#all.slice(0, -1), { ...incident, from: last.from }];
    else this.#all = [...this.#all, incident].slice(-mostIncidents);
    this.#hasWorked = false;
  }
}
