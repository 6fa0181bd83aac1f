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
  {
    name: "a unit that was given up while its commit was under way became visible, and a person was told that it is lost",
    seed: 491,
    faults: [
      "restore @ restore 2",
      "restore @ restore 3",
      "input comes while Plan looks @ look 5",
      "event comes twice @ append 6",
      "invocation doubled at once @ Plan readings-uid0-9",
      "input comes while Plan looks @ look 16",
      "answer lost @ Commit 10.large #6 ledger.units",
      "input comes while Plan looks @ look 19",
      "partition added @ append 20",
      "input comes while Plan looks @ look 21",
      "partition added @ append 22",
      "abandon during a commit @ Commit 13.large kafka.fetchOffset 26",
      "abandon pauses half way @ abandon 126",
    ],
    mutant: "a committer that is overtaken by abandon keeps it to itself",
  },
];
