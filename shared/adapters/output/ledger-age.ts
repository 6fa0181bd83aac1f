import { LossError } from "../../errors.ts";
import type { SinkOwner } from "./names.ts";

/** A manifest of one epoch, by its path. */
const single = /(?:^|\/)(\d{12})\.json$/;

/**
 * I8: output of epochs that the ledger has not decided says that the ledger is an older one, a restored backup. To go on would bring rows once more, under other epochs.
 * Looked for once a process: what comes later, the ledger has decided.
 */
export class LedgerAge {
  #isKnown = false;

  /**
   * @param decided the last decided epoch; undefined: whoever opens the output does not know
   * @param manifests paths, or names, of all manifests
   * @throws LossError `ledger-older-than-output`
   */
  async check(
    { pipeline, sink, decided }: SinkOwner & { readonly decided?: number },
    output: string,
    manifests: () => Promise<readonly string[]>,
  ): Promise<void> {
    if (this.#isKnown || decided === undefined) return;
    const newest = (await manifests()).reduce((most, name) => Math.max(most, Number(single.exec(name)?.[1] ?? 0)), 0);
    if (newest > decided) {
      throw new LossError(
        "ledger-older-than-output",
        `${output} has a manifest of epoch ${newest}, but the ledger knows of ${decided} epochs only: it is an older one`,
        {
          wayOut:
            "Bring the newer state back, and run `epochflow resume`; or move the output away and begin anew with `epochflow reset`.",
          place: { pipeline, sink, epoch: newest, file: output },
        },
      );
    }
    this.#isKnown = true;
  }
}
