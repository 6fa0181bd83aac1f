import { whyNoEngine, whyNoImage } from "../docker.ts";
import { whyNoPython } from "./python.ts";

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
  /** Whether functions have to reach servers on 127.0.0.1. */
  readonly reachesHost: boolean;
  readonly environment: Readonly<Record<string, string>>;
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

/** The last LocalStack that needs no account, untested by us: nothing of ours could pull it yet. Any image that serves the same interfaces will do. */
export const image = process.env.EPOCHFLOW_EMULATOR_IMAGE ?? "localstack/localstack:4.14.0";

/** LocalStack runs functions in containers of their own, beside its own; others, as ministack, within theirs. */
export const isLocalStack = image.startsWith("localstack/");

/**
 * By the environment variable `EPOCHFLOW_EMULATOR`, `process` or `containers`. Without it containers if a Docker engine answers, and has the image or can pull
 * it; but where functions have to reach servers of this machine, which those of LocalStack do not, a process.
 *
 * @returns as a text, why there is none, and what to install
 */
export async function pickLauncher(reachesHost: boolean): Promise<Launcher | string> {
  const wanted = process.env.EPOCHFLOW_EMULATOR;
  if (wanted !== undefined && wanted !== "process" && wanted !== "containers")
    throw new Error(`EPOCHFLOW_EMULATOR is "process" or "containers", not "${wanted}"`);
  const noContainer = wanted === "process" ? processWanted : await whyNoContainer(reachesHost);
  if (noContainer === undefined) return (await import("./container-launcher.ts")).containerLauncher;
  const noProcess = wanted === "containers" ? containersWanted : await whyNoPython();
  if (noProcess === undefined) return (await import("./process-launcher.ts")).processLauncher;
  return `No emulator of AWS can be started here. ${noProcess} ${noContainer}`;
}

const processWanted = "EPOCHFLOW_EMULATOR=process wants no container.";
const containersWanted = "EPOCHFLOW_EMULATOR=containers wants a container.";

async function whyNoContainer(reachesHost: boolean): Promise<string | undefined> {
  if (reachesHost && isLocalStack) return "Functions in LocalStack's containers reach no server of this machine.";
  const problem = (await whyNoEngine()) ?? (await whyNoImage(image));
  return problem && `${problem} Where no image can be pulled, npm run emulator:image makes one.`;
}
