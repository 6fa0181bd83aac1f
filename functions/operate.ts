import type { Engine } from "../shared/epoch/engine.ts";
import { type OperateOutcome, operate } from "../shared/epoch/operate.ts";
import type { TaskName } from "../shared/epoch/plan.ts";
import { Deadline, OutOfTime } from "./deadline.ts";
import type { Step } from "./handler.ts";
import { observeTimeLag } from "./metrics.ts";

/** State `Operate`: one task of an epoch. */
export const operateStep: Step<TaskName, { readonly outcome: OperateOutcome }> = async (
  engine,
  name,
  { context, observe },
) => {
  using deadline = new Deadline(context.getRemainingTimeInMillis());
  const source = observeTimeLag(engine.source, engine.clock, observe);
  return { outcome: await operateInTime({ ...engine, source }, name, deadline) };
};

/** Notes it if time runs out, so that the next epoch is smaller. */
async function operateInTime(engine: Engine, name: TaskName, deadline: Deadline): Promise<OperateOutcome> {
  try {
    return await Promise.race([operate({ ...engine, read: () => deadline.check() }, name), deadline.passed]);
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    await engine.ledger.fail(name, { error: deadline.error(name).describe(), shrink: true });
    return "failed";
  }
}
