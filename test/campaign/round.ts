import type { Tally } from "./tally.ts";
import type { Timeline } from "./timeline.ts";

/** How a round is to be disturbed. */
export interface RoundOptions {
  readonly tally: Tally;
  /** How often. */
  readonly count: number;
  readonly goesOn: () => boolean;
  /** Kinds to disturb with, by name; default: all. */
  readonly isWanted?: (kind: string) => boolean;
}

/** What a round came to. */
export interface Checked {
  /** How the output differs from what it must be, and what is left over. */
  readonly problems: readonly string[];
  /** That were compared. */
  readonly rows: number;
  readonly epochs: number;
}

/** A pipeline that is given input, disturbed, healed, and run to the end of its input; then its output is compared. */
export interface Round {
  /** What was drawn for it. */
  readonly title: string;
  readonly timeline: Timeline;
  run(options: RoundOptions): Promise<Checked>;
  /** Copies what tells how it came to this. */
  keep(folder: string): Promise<void>;
  end(): Promise<void>;
}

/** Where a target's rounds take place. */
export interface Arena extends AsyncDisposable {
  begin(seed: number): Promise<Round>;
  /** Disturbances of a round. */
  readonly count: number;
}
