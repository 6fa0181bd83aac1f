import { readdirSync, readFileSync } from "node:fs";

/** SIGKILL for an emulator's processes that run a function, in the middle of whatever they do. Returns how many there were. */
export function killWorkers(emulatorPid: number, functionName: string): number {
  return signalWorkers(emulatorPid, functionName, "SIGKILL").length;
}

/** The same for any signal. Returns their ids. */
export function signalWorkers(emulatorPid: number, functionName: string, signal: NodeJS.Signals): number[] {
  const variable = `AWS_LAMBDA_FUNCTION_NAME=${functionName}`;
  const pids = childrenOf(emulatorPid).filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(variable));
  return pids.filter((pid) => isSent(pid, signal));
}

/** To one that may have ended meanwhile. */
export function isSent(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Each thread has children of its own. */
function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).trim().split(" ").filter(Boolean).map(Number),
  );
}

/** Empty for what has ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
