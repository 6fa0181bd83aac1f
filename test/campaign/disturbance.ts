import type { SeededRandom } from "../../shared/adapters/memory/random.ts";
import type { Timeline } from "./timeline.ts";

/** What a reader of the figures wants to tell apart; `more` is what is neither of the three. */
export type Sort = "kill" | "pause" | "reset" | "more";

/** Takes a disturbance back. Called once, some time later. */
export type Heal = () => Promise<void>;

/** Came about, and needs no healing. */
export const over: Heal = async () => {};

/** A way to disturb what runs in a round. */
export interface Kind<Round> {
  readonly name: string;
  readonly sort: Sort;
  /** How often it is drawn, compared with others. */
  readonly weight: number;
  /** Whether it can come about in this round, as it was drawn; default: yes. */
  applies?(round: Round): boolean;
  /** Nothing goes on until it is healed. */
  readonly blocks?: true;
  /** It comes about while something goes on, or not at all. */
  readonly needsProgress?: true;
  /** Names of kinds that cannot be together with this one. */
  readonly excludes?: readonly string[];
  /**
   * Undefined: it came to nothing, and does not count. "later": it is counted by others, if it comes about. A kind that is not healed yet is not
   * drawn again.
   */
  disturb(round: Round): Promise<Heal | "later" | undefined>;
}

/** What runs, to whoever disturbs it. */
export interface Disturbed {
  /** What is drawn for disturbances of this round, but for their order. */
  readonly random: SeededRandom;
  readonly timeline: Timeline;
  /** Epochs that are decided. @throws if what runs has failed beyond healing */
  decided(): Promise<number>;
  /** Adds input if it may soon run out. */
  feed(): Promise<void>;
}
