/**
 * A second opinion on a finished run, which shares no code with the engine and knows nothing of epochs: all input at once, against all that readers have.
 * Every pair of a record and a window is in exactly one of the results and the late rows.
 */
import { decidedIn } from "../../shared/epoch/epoch.ts";
import type { World } from "../../shared/testing/simulation/world.ts";
import { parse, type Reading } from "../support/readings.ts";
import { isLarge, window } from "./pipelines.ts";

type Row = Readonly<Record<string, unknown>>;

/**
 * The same for the weaker guarantees, of what each record becomes by itself: at least once, everything is there; at most once, nothing is there more often than it
 * should be, and if nothing is lost, everything.
 */
export function judgeWeaker(world: World): string | undefined {
  if (wasRepeated(world)) return undefined;
  const { readings } = inputOf(world);
  const large = countsOf(readings.filter(isLarge).map((one) => JSON.stringify(one)));
  const seen = countsOf(visibleOf(world, "large"));
  const last = world.rows().findLast((row) => row.status === "decided");
  const isLossless = world.topology.guarantee === "at-least-once" || !decidedIn(last)?.lostSoFar;
  const mayRepeat = world.topology.guarantee === "at-least-once";
  for (const row of new Set([...large.keys(), ...seen.keys()])) {
    const [expected, found] = [large.get(row) ?? 0, seen.get(row) ?? 0];
    if (expected === 0 || (isLossless && found < expected) || (!mayRepeat && found > expected))
      return `large: ${row} is there ${found} times, and should be ${expected} times`;
  }
  return undefined;
}

const countsOf = (rows: readonly string[]): Map<string, number> =>
  new Map([...Map.groupBy(rows, (row) => row)].map(([row, all]) => [row, all.length]));

function visibleOf({ lanes, folders, broker }: World, sink: string): string[] {
  if (lanes.has(sink)) return [0, 1, 2].flatMap((partition) => broker.readCommitted(`${sink}-${partition}`));
  return [...folders.get(sink)!.direct.values()].flatMap((text) => text.split("\n"));
}

/** What is wrong with the output of `readings`, if anything. Runs in which input was lost, read again or given up have no answer of this kind. */
export function judge(world: World): string | undefined {
  if (wasRepeated(world)) return undefined;
  const { readings, rejected } = inputOf(world);
  const large = readings.filter(isLarge).map((one) => JSON.stringify(one));
  return (
    differenceOf("large", linesOf(world, "large"), large) ??
    judgeRejected(world, rejected) ??
    judgeWindows(world, readings)
  );
}

/** The same of `running`: the last row of each key has all of its values; of one that expires, at most as many, and of the latest time. */
export function judgeRunning(world: World): string | undefined {
  if (wasRepeated(world)) return undefined;
  const { readings, rejected } = inputOf(world);
  const [running, recent] = ["running-rows", "recent-rows"].map(
    (sink) => new Map(rowsOf(world, sink).map((row) => [String(row.key), row])),
  );
  const keys = Map.groupBy(readings, ({ key }) => key);
  const isWrong = [...keys].flatMap(([key, all]) => {
    const values = (running!.get(key)?.values as number[] | undefined) ?? [];
    const { count, timestamp } = recent!.get(key) ?? {};
    const isRecent = Number(count) <= all.length && all.some(({ time }) => time === timestamp);
    const difference = differenceOf(
      `running ${key}`,
      values.map(String),
      all.map(({ value }) => String(value)),
    );
    return difference ?? (isRecent ? [] : `recent ${key}: ${count} at ${timestamp}`);
  });
  if (isWrong.length > 0) return isWrong[0];
  return running!.size > keys.size ? "there are keys that nobody sent" : judgeRejected(world, rejected);
}

function judgeRejected(world: World, rejected: number): string | undefined {
  return rowsOf(world, "dead-letter").length === rejected ? undefined : `${rejected} records should be rejected`;
}

function wasRepeated(world: World): boolean {
  const wasRepeated = world.faults.injected.some(({ kind }) =>
    ["restore", "reset", "abandon", "abandon during a commit", "log truncated by retention"].includes(kind),
  );
  // Somebody may have had to give up what Kafka no longer knew.
  return wasRepeated || world.states.has("person: mending done");
}

function judgeWindows(world: World, readings: readonly Reading[]): string | undefined {
  const results = new Map(rowsOf(world, "rows").map((row) => [`${row.key} ${row.windowStart}`, row]));
  const late = Map.groupBy(rowsOf(world, "window-2-late"), (row) => `${row.key} ${row.windowStart}`);
  const expected = new Map<string, number[]>();
  for (const { key, time, value } of readings)
    for (
      let start = Math.floor(time / window.every) * window.every;
      start > time - window.size;
      start -= window.every
    ) {
      const name = `${key} ${start}`;
      expected.set(name, [...(expected.get(name) ?? []), value]);
    }
  for (const [name, values] of expected) {
    const missed = (late.get(name) ?? []).map((row) => (row.value as Reading).value);
    const found = results.get(name);
    // Windows that are still open have no row yet, unless the input is bounded.
    if (!found && missed.length < values.length && !(world.isBounded && !world.policy.hold)) continue;
    const all = [...missed, ...((found?.values as number[]) ?? [])].map(String);
    const difference = differenceOf(`window ${name}`, all, values.map(String));
    if (difference) return difference;
  }
  return undefined;
}

function inputOf({ log }: World): { readings: Reading[]; rejected: number } {
  const readings: Reading[] = [];
  let rejected = 0;
  for (const id of log.ids())
    for (const { value } of log.archived({ id, from: 0, to: log.status(id).end })) {
      try {
        readings.push(parse(value.toString()));
      } catch {
        rejected++;
      }
    }
  return { readings, rejected };
}

/** Rows that readers have, in the order in which they get them. */
function linesOf({ lanes, folders, broker }: World, sink: string): string[] {
  if (lanes.has(sink)) return [0, 1, 2].flatMap((partition) => broker.readCommitted(`${sink}-${partition}`));
  const { manifests, files } = folders.get(sink)!;
  return [...manifests.values()].flatMap((names) => names.flatMap((name) => files.get(name)!.split("\n")));
}

const rowsOf = (world: World, sink: string): Row[] => linesOf(world, sink).map((line) => JSON.parse(line));

function differenceOf(what: string, found: readonly string[], expected: readonly string[]): string | undefined {
  const [one, other] = [found.toSorted(), expected.toSorted()];
  if (one.length === other.length && one.every((row, index) => row === other[index])) return undefined;
  return `${what}: there are ${one.length} (${one.slice(0, 5)}), and should be ${other.length} (${other.slice(0, 5)})`;
}
