import type { Engine } from "../../../shared/epoch/engine.ts";
import type { TwoPhaseCommitSink } from "../../../shared/ports/sink.ts";

/** A wrong sink, such as a campaign is to find: it writes a row twice, or not at all. */
export type Planted = "doubled" | "lost";

/** The engine, with a fault in one batch of results. */
export function planted(engine: Engine, fault: Planted): Engine {
  let isDone = false;
  const write = (rows: readonly unknown[]) => {
    if (isDone || rows.length === 0) return rows;
    isDone = true;
    return fault === "lost" ? rows.slice(1) : [...rows, rows.at(-1)];
  };
  const wrong = (sink: TwoPhaseCommitSink): TwoPhaseCommitSink =>
    new Proxy(sink, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== "function") return method;
        if (name !== "begin") return method.bind(target);
        return async (context: never) => {
          const transaction = await target.begin(context);
          const original = transaction.write.bind(transaction);
          transaction.write = (rows, refused, timeOf) =>
            original(write(rows), refused, timeOf && ((index) => timeOf(Math.min(index, rows.length - 1))));
          return transaction;
        };
      },
    });
  return { ...engine, sink: (id) => (id === "rows" ? wrong(engine.sink(id)) : engine.sink(id)) };
}
