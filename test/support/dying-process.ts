/**
 * A process that runs the scenario, and kills itself before or after a call of a port:
 *
 *     node dying-process.ts FOLDER METHOD ORDINAL before|after
 */
import { Counter } from "./counter.ts";
import { type Around, around, synchronous } from "./ports.ts";
import { placeIn, runIn } from "./scenario.ts";

const [folder, target, ordinal, when] = process.argv.slice(2);
const counter = new Counter();

const dying: Around = (method, call) => {
  if (counter.next(method) !== Number(ordinal) || method !== target) return call();
  if (when === "before") return die();
  const result = call();
  return synchronous.has(method) ? die() : ((result as Promise<unknown>).then(die) as never);
};

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("still alive");
}

await runIn(placeIn(folder!), { engine: (engine) => around(engine, dying) });
