import { execFile, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { promisify } from "node:util";

/** What to install or start where no Docker engine answers; undefined if one does. */
export async function whyNoEngine(): Promise<string | undefined> {
  const problem = await problemOf("version");
  if (problem === undefined) return undefined;
  return `No Docker engine answers (${problem}); on Debian: apt-get install docker.io, and start dockerd.`;
}

export async function hasImage(image: string): Promise<boolean> {
  return (await problemOf("image", "inspect", image)) === undefined;
}

/** Why an image that is not here cannot be pulled either; undefined once it is here. */
export async function whyNoImage(image: string): Promise<string | undefined> {
  if (await hasImage(image)) return undefined;
  const problem = await problemOf("pull", "--quiet", image);
  return problem && `The image ${image} is not there, nor can it be pulled (${problem}).`;
}

/** The last line of what a command of Docker's says when it fails; undefined if it does not. */
async function problemOf(...command: string[]): Promise<string | undefined> {
  try {
    await promisify(execFile)("docker", command);
    return undefined;
  } catch (error) {
    const { code, stderr = "", message } = error as Error & { code?: unknown; stderr?: string };
    return code === "ENOENT" ? "there is no program docker" : (stderr.trim() || message).split("\n").at(-1)!;
  }
}

/**
 * Has a container removed when this process ends, however it ends: a process of its own does that, once its standard input is over. Ryuk, which testcontainers
 * starts for that, would be one more image to pull.
 */
export function removeWithUs(containerId: string): void {
  const script = 'cat >/dev/null; docker stop --time 5 "$1"; docker rm --force --volumes "$1"';
  const watcher = spawn("sh", ["-c", script, "sh", containerId], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  watcher.unref();
  (watcher.stdin as Socket).unref();
}

process.env.TESTCONTAINERS_RYUK_DISABLED ??= "true";
