/** A run that once broke something: a seed, and the faults that it took, as the shrinker found them. */
export interface Regression {
  /** What went wrong. */
  readonly name: string;
  readonly seed: number;
  readonly faults: readonly string[];
  /** The mutant that has the old fault: it must still be caught by these few faults, or the run tests nothing any more. */
  readonly mutant: string;
}

export const regressions: readonly Regression[] = [
  {
    name: "a loss at the source stopped the pipeline before what was decided could be committed, and reset was refused for ever",
    seed: 51,
    faults: ["log truncated by retention @ log"],
    mutant: "a loss keeps a decided epoch from its commit",
  },
];
