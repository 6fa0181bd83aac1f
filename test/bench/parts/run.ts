/**
 * One part in a process of its own, so that what V8 has compiled is its own too: prints its `PartFigures` as JSON.
 *
 *     node --conditions=epochflow-source test/bench/parts/run.ts operators-strings '{"records": 200000, "keys": 200000}' 5
 */
import { parts } from "./all.ts";
import { measurePart } from "./part.ts";

const [name, sizes, runs] = process.argv.slice(2) as [string, string, string];
const part = parts.find((one) => one.name === name)!;
process.stdout.write(`${JSON.stringify(await measurePart(part, JSON.parse(sizes), Number(runs)))}\n`);
