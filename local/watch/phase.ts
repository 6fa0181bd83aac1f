/** Plan to the first task, to the last acknowledgement, to the decision; from there to the commit. */
export type PhaseName = "start" | "operate" | "decide" | "commit";

/** A part of an epoch's time; epoch milliseconds. `to` is null while it goes on. */
export interface Phase {
  readonly phase: PhaseName;
  readonly from: number;
  readonly to: number | null;
}
