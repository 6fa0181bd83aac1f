import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "../kafka/free-ports.ts";
import { type LaunchedEmulator, type Launcher, pickLauncher } from "./launcher.ts";

export interface EmulatorOptions {
  /** One that is free by default. */
  readonly port?: number;
  /** Whether functions have to reach servers of this machine, on 127.0.0.1: a broker, a proxy. Default: no. */
  readonly reachesHost?: boolean;
  /** Environment variables of the emulator, such as ministack's `SFN_WAIT_SCALE`. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** An emulator of AWS on 127.0.0.1. It ends with the process that started it, however that ends. */
export interface Emulator extends AsyncDisposable {
  readonly launcher: Launcher["name"];
  /** `http://127.0.0.1:port` */
  readonly endpoint: string;
  readonly pid: number;
  /** The last lines that it logged. */
  log(): string;
  /** Forgets all buckets, tables, functions and state machines. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/** What an SDK's client or a CLI takes to be anybody, anywhere: emulators look at neither. */
export const anyAccount = {
  region: "us-east-1",
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
} as const;

/** @throws Error with the end of the emulator's log if it does not start */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { reachesHost = false, environment = {} } = options;
  const launcher = await pickLauncher(reachesHost);
  if (typeof launcher === "string") throw new Error(launcher);
  const folder = mkdtempSync(join(tmpdir(), "epochflow-emulator-"));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", removeFolder);
  const port = options.port ?? (await freePorts(1))[0]!;
  const launched = await launcher.launch({ folder, port, reachesHost, environment });
  const stop = async () => {
    await launched.end("SIGTERM");
    process.off("exit", removeFolder);
    removeFolder();
  };
  return {
    launcher: launcher.name,
    endpoint: launched.endpoint,
    pid: launched.pid,
    log: () => launched.log(),
    reset: () => reset(launched),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Ministack's way first, then LocalStack's. */
async function reset({ endpoint }: LaunchedEmulator): Promise<void> {
  for (const path of ["/_ministack/reset", "/_localstack/state/reset"]) {
    const answer = await fetch(endpoint + path, { method: "POST" });
    if (answer.ok) return;
  }
  throw new Error(`the emulator at ${endpoint} cannot be reset`);
}
