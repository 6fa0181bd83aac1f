import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** The input of `java/tools/…/Traffic.java`: first a record of each key, then records of the first tenth of the keys, in turn. */
export interface Traffic {
  readonly keys: number;
  readonly sent: number;
}

export interface Found {
  /** How the results differ from what they should be; undefined if they do not. */
  readonly complaint: string | undefined;
  /** By kill: epoch milliseconds of the first result after it, and of the first result that counts a record that was sent after it; NaN where none came. */
  readonly after: readonly { readonly nextAt: number; readonly freshAt: number }[];
}

export interface Kill {
  /** Epoch milliseconds at which the process was gone. */
  readonly at: number;
  /** Records that had been sent by then. */
  readonly sent: number;
}

/** What was committed before a kill may reach the reader somewhat later; no engine is back within that time. */
const inFlightMs = 100;

/**
 * Reads the results, `ms {"key":…,"count":…}` a line in the order of their partitions. Per key counts are to grow, without a doubled one, to the number of
 * its records.
 */
export async function checkRecovery(file: string, traffic: Traffic, kills: readonly Kill[]): Promise<Found> {
  const last = new Uint32Array(traffic.keys);
  let notGrown = 0;
  const after = kills.map(() => ({ nextAt: Number.NaN, freshAt: Number.NaN }));
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const space = line.indexOf(" ");
    const at = Number(line.slice(0, space));
    const { key, count } = JSON.parse(line.slice(space + 1)) as { key: string; count: number };
    const number = Number(key.slice(1));
    if (count <= last[number]!) notGrown++;
    last[number] = count;
    kills.forEach((kill, index) => {
      const times = after[index]!;
      if (at < kill.at + inFlightMs) return;
      if (Number.isNaN(times.nextAt)) times.nextAt = at;
      if (Number.isNaN(times.freshAt) && recordOf(number, count, traffic) >= kill.sent) times.freshAt = at;
    });
  }
  const wrong = last.reduce((sum, count, number) => sum + Number(count !== expectedCount(number, traffic)), 0);
  return { complaint: complaintOf(notGrown, wrong), after };
}

function complaintOf(notGrown: number, wrong: number): string | undefined {
  if (notGrown + wrong === 0) return undefined;
  return `${notGrown} results that do not grow, ${wrong} keys whose last count is wrong`;
}

const hotKeys = (keys: number) => Math.floor(keys / 10);

/** The number, from 0, of the record that is a key's count-th. */
function recordOf(key: number, count: number, { keys }: Traffic): number {
  return count === 1 ? key : keys + key + (count - 2) * hotKeys(keys);
}

function expectedCount(key: number, { keys, sent }: Traffic): number {
  const hot = hotKeys(keys);
  if (key >= hot) return 1;
  const live = sent - keys;
  return 1 + Math.floor(live / hot) + Number(key < live % hot);
}

/** How many records had been sent at a time, by lines `ms total`. */
export function sentBy(file: string, at: number): number {
  let sent = 0;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [ms, total] = line.split(" ").map(Number);
    if (total === undefined || ms! > at) break;
    sent = total;
  }
  return sent;
}
