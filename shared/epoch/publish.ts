import { UsageError } from "../errors.ts";
import type { Topology } from "../pipeline/topology.ts";
import type { Transaction, TwoPhaseCommitSink } from "../ports/sink.ts";
import type { InvocationName } from "./names.ts";

/**
 * A sink under a weaker guarantee has a way of its own to write at once; or its tasks are committed each by itself, so that one can be under a key of its own.
 *
 * @throws UsageError `sink-exactly-once` for any other
 */
export function mustPublish({ name, guarantee }: Topology, id: string, sink: TwoPhaseCommitSink): void {
  if (sink.publish !== undefined || (sink.units === undefined && sink.seal === undefined)) return;
  throw new UsageError("sink-exactly-once", `sink ${id} of pipeline ${name} cannot write ${guarantee}`, {
    wayOut: 'Leave the pipeline\'s guarantee at "exactly-once", or give the sink a method `publish`.',
    place: { pipeline: name, sink: id },
  });
}

/** Makes a task's rows visible at once, and durable. */
export async function publish(
  sink: TwoPhaseCommitSink,
  transaction: Transaction,
  invocation: InvocationName & { readonly sink: string },
): Promise<void> {
  if (sink.publish !== undefined) return await sink.publish(transaction);
  const unit = await sink.preCommit(transaction);
  if (unit === undefined) return;
  const { pipeline, uid, epoch, attempt, stage, task, nonce, sink: id } = invocation;
  // Nobody else ever commits under this key: whatever others have committed, these rows come on top.
  const key = `${stage}-${task}-${attempt}-${nonce}`;
  const ledger = {
    unit: async () => ({ status: "prepared", unit }) as const,
    decidedAt: async () => undefined,
    committed: async () => epoch - 1,
    recover: async () => {},
  };
  await sink.commit({ pipeline, uid, sink: id, epoch, key, unit, ledger });
}
