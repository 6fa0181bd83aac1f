import { EpochflowError } from "../../shared/errors.ts";
import { type Finding, failure } from "../../shared/finding.ts";

/** What `epochflow check` looks at, in its order. */
export type Topic = "types" | "module" | "parameters" | "source" | "samples" | "sinks" | "state";

export interface CheckedTopic {
  readonly topic: Topic;
  /** What was looked at, or why it was not. */
  readonly notes: readonly string[];
  readonly findings: readonly Finding[];
}

/** Collects what is found: one problem does not hide the next. */
export class CheckReport {
  readonly #topics = new Map<Topic, { notes: string[]; findings: Finding[] }>();

  note(topic: Topic, note: string): void {
    this.#of(topic).notes.push(note);
  }

  add(topic: Topic, ...findings: readonly Finding[]): void {
    this.#of(topic).findings.push(...findings);
  }

  /** Does a part of the check; what it throws is a finding. A fault of ours is none, and is thrown on. */
  async attempt<T>(topic: Topic, work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EpochflowError || (error instanceof Error && "code" in error))) throw error;
      this.add(topic, failure(error));
      return undefined;
    }
  }

  get topics(): CheckedTopic[] {
    return [...this.#topics].map(([topic, checked]) => ({ topic, ...checked }));
  }

  #of(topic: Topic) {
    const checked = this.#topics.get(topic) ?? { notes: [], findings: [] };
    this.#topics.set(topic, checked);
    return checked;
  }
}
