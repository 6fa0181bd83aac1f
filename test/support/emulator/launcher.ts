import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** What starts an emulator: a Python process of ministack, or a container of the image `localstack/localstack`. */
export interface Launcher {
  readonly name: "process" | "containers";
  /** Resolves when the emulator answers. @throws Error with the end of its log if it does not come to that */
  launch(launch: Launch): Promise<LaunchedEmulator>;
}

export interface Launch {
  /** Holds what the emulator writes. */
  readonly folder: string;
  readonly port: number;
}

export interface LaunchedEmulator {
  /** `http://127.0.0.1:port` */
  readonly endpoint: string;
  readonly pid: number;
  /** The last lines that it logged. */
  log(): string;
  /** Resolves when it has ended. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** The last LocalStack that needs no account. Any image that serves the same interfaces will do. */
export const image = process.env.EPOCHFLOW_EMULATOR_IMAGE ?? "localstack/localstack:4.14.0";

export const healthPath = "/_localstack/health";

/**
 * By the environment variable `EPOCHFLOW_EMULATOR`, `process` or `containers`. Without it containers if a Docker engine answers and has the image already,
 * since the process is there sooner than an image can be pulled.
 */
export async function pickLauncher(): Promise<Launcher> {
  const wanted = process.env.EPOCHFLOW_EMULATOR;
  if (wanted !== undefined && wanted !== "process" && wanted !== "containers")
    throw new Error(`EPOCHFLOW_EMULATOR is "process" or "containers", not "${wanted}"`);
  if (wanted === "containers" || (wanted === undefined && (await hasImage())))
    return (await import("./container-launcher.ts")).containerLauncher;
  return (await import("./process-launcher.ts")).processLauncher;
}

async function hasImage(): Promise<boolean> {
  try {
    await promisify(execFile)("docker", ["image", "inspect", image], { timeout: 5000 });
    return true;
  } catch {
    return false; // no docker, no engine, or no image
  }
}
