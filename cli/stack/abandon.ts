import type { AbandonInput } from "../../functions/abandon.ts";
import { type ErrorDescription, revive, UsageError } from "../../shared/errors.ts";
import type { Abandoned, AbandonRequest } from "../open-pipeline.ts";
import type { StackOptions } from "../stack-options.ts";
import { invoke } from "./invoke.ts";

/** A sink is asked, which may be slow: a broker ends the transactions of those who are at it. */
const timeoutMs = 300_000;

/** Of a function of another version neither. */
type Answer = { readonly abandoned?: Abandoned; readonly error?: ErrorDescription };

/**
 * Has the function that commits ask the sink, for only that may be in the network where the sink is.
 *
 * @throws the function's own error; UsageError `other-version` for one that does not know the verb
 */
export async function abandonIn(
  options: StackOptions,
  commitFunction: string,
  { sink, epoch, unasked }: AbandonRequest,
): Promise<Abandoned> {
  const input: AbandonInput = { abandon: { sink, epoch, ...(unasked && { unasked }) } };
  const answer = (await invoke(options, commitFunction, input, timeoutMs)) as Answer | null;
  const { abandoned, error } = answer ?? {};
  if (error !== undefined) throw revive(error);
  if (abandoned !== undefined) return countsOf(abandoned);
  throw new UsageError("other-version", `The function ${commitFunction} does not know how to abandon`, {
    wayOut: "Deploy the stack with the version of epochflow that the command has.",
  });
}

/** Without the wish, which the function repeats for its log. */
const countsOf = ({ lost, committed, unknown }: Abandoned): Abandoned => ({ lost, committed, unknown });
