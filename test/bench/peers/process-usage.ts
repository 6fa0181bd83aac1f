import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Of Linux on all machines in use (`getconf CLK_TCK`). */
const ticksPerSecond = 100;

export interface Usage {
  /** User and system time of all threads. */
  readonly cpuSeconds: number;
  /** Highest resident memory so far: of the process itself, since `ru_maxrss` of a child has its parent's as a floor. */
  readonly peakBytes: number;
}

/** What a process has used so far, from /proc; undefined when it has ended. */
export function usageOf(pid: number): Usage | undefined {
  try {
    // The name, the second field, is in parentheses and may hold spaces. utime and stime are the fields 14 and 15.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    if (!peak) return undefined; // a zombie has no memory any more
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
      peakBytes: Number(peak[1]) * 1024,
    };
  } catch {
    return undefined;
  }
}

const sampleMs = 20;

/** Follows a process to its end; what it used in its last instants, below 20 ms, is left out. */
export async function usageUntilEnd(pid: number): Promise<Usage> {
  let last: Usage = { cpuSeconds: 0, peakBytes: 0 };
  for (let now = usageOf(pid); now; now = usageOf(pid)) {
    last = now;
    await sleep(sampleMs);
  }
  return last;
}

/** CPU seconds of the whole machine that were not idle. */
export function busySeconds(): number {
  const [user, nice, system, , , irq, softIrq] = readFileSync("/proc/stat", "utf8")
    .split("\n")[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user! + nice! + system! + irq! + softIrq!) / ticksPerSecond;
}
