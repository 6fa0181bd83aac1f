import type { Engine } from "../../shared/epoch/engine.ts";
import type { ObjectStore } from "../../shared/ports/object-store.ts";
import type { Transaction, TwoPhaseCommitSink } from "../../shared/ports/sink.ts";
import type { Source } from "../../shared/ports/source.ts";
import { StateStore } from "../../shared/state/state-store.ts";

/**
 * Stands between the protocol and every call of a port. `method` is its name, "ledger.ack"; what `call` gives is a promise, but for the
 * `synchronous` methods.
 */
export type Around = <T>(method: string, call: () => T) => T;

export const synchronous = new Set([
  "transaction.write",
  "transaction.writeColumns",
  "transaction.writeTexts",
  "sink.units",
]);

/** The engine with something around every call of its ledger, objects, source, sinks, their transactions and executions. */
export function around(engine: Engine, call: Around): Engine {
  const objects: ObjectStore = {
    ...wrapped("objects", engine.objects, call),
    list: iterated("objects.list", (prefix) => engine.objects.list(prefix), call),
  };
  const source: Source = {
    ...wrapped("source", engine.source, call),
    read: iterated("source.read", (range, signal) => engine.source.read(range, signal), call),
  };
  const sinks = new Map<string, TwoPhaseCommitSink>();
  return {
    ...engine,
    ledger: wrapped("ledger", engine.ledger, call),
    objects,
    ...(engine.shuffle && { shuffle: wrapped("shuffle", engine.shuffle, call) }),
    source,
    executions: wrapped("executions", engine.executions, call),
    state: new StateStore(objects),
    sink(id) {
      const sink = sinks.get(id) ?? aroundSink(engine.sink(id), call);
      sinks.set(id, sink);
      return sink;
    },
  };
}

/** Ending a run is not part of the protocol. */
const untouched = new Set(["close"]);

/** A port with the same methods, for others to be put beside them. */
export const copyOf = <T extends object>(port: T): T => wrapped("", port, (_, call) => call());

/** An object whose methods go through `call`. */
function wrapped<T extends object>(port: string, target: T, call: Around): T {
  const prototype: object = Object.getPrototypeOf(target);
  const inherited = prototype === Object.prototype ? [] : Object.getOwnPropertyNames(prototype);
  const names = new Set([...Object.keys(target), ...inherited]);
  const methods = [...names].flatMap((name) => {
    const method: unknown = Reflect.get(target, name);
    if (name === "constructor" || typeof method !== "function") return [];
    const apply = (...given: unknown[]): unknown => Reflect.apply(method, target, given);
    return [
      [name, untouched.has(name) ? apply : (...given: unknown[]) => call(`${port}.${name}`, () => apply(...given))],
    ];
  });
  return Object.fromEntries(methods) as T;
}

/** An asynchronous iteration: each step of it is a call. */
function iterated<T, Given extends unknown[]>(
  method: string,
  iterate: (...given: Given) => AsyncIterable<T>,
  call: Around,
): (...given: Given) => AsyncIterable<T> {
  return async function* (...given) {
    const iterator = iterate(...given)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const step = await call(method, () => iterator.next());
        if (step.done) return;
        yield step.value;
      }
    } finally {
      await iterator.return?.();
    }
  };
}

function aroundSink(sink: TwoPhaseCommitSink, call: Around): TwoPhaseCommitSink {
  const originals = new WeakMap<Transaction, Transaction>();
  const methods = wrapped("sink", sink, call);
  return {
    ...methods,
    async begin(context) {
      const original = await methods.begin(context);
      const transaction = wrapped("transaction", original, call);
      originals.set(transaction, original);
      return transaction;
    },
    preCommit: (transaction) => methods.preCommit(originals.get(transaction)!),
  };
}
