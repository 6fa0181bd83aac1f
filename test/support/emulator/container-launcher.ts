import { LocalstackContainer } from "@testcontainers/localstack";
import { getContainerRuntimeClient, StartupCheckStrategy, type StartupStatus } from "testcontainers";
import { removeWithUs } from "../docker.ts";
import { answers } from "./health.ts";
import { image, isLocalStack, type Launch, type LaunchedEmulator, type Launcher } from "./launcher.ts";

/** Of the log, in an error. */
const tailLines = 40;

/** Longest time until SIGTERM becomes SIGKILL. */
const patienceMs = 10_000;

/** Longest time that it may take to start, on a machine that does much else. */
const startPatienceMs = 120_000;

const containerPort = 4566;

/** LocalStack, or what serves the same interfaces, through testcontainers. */
export const containerLauncher: Launcher = {
  name: "containers",
  async launch(launch) {
    const lines: string[] = [];
    const endpoint = `http://127.0.0.1:${launch.port}`;
    const { container: containers, info } = await getContainerRuntimeClient();
    const container = await new EmulatorContainer(launch)
      .withBindMounts(isLocalStack ? [{ source: info.containerRuntime.remoteSocketPath, target: socket }] : [])
      .withEnvironment({ LOG_LEVEL: "WARNING", ...launch.environment })
      .withLogConsumer((log) =>
        log.on("data", (line) => {
          lines.push(`${line}`.trimEnd());
          lines.splice(0, lines.length - tailLines);
        }),
      )
      .withWaitStrategy(new Answers(endpoint))
      .withStartupTimeout(startPatienceMs)
      .start()
      .catch((error) => {
        throw new Error(`the emulator did not start: ${error.message}\n${lines.join("\n")}`, { cause: error });
      });
    const handle = containers.getById(container.getId());
    const { State } = await handle.inspect();
    return {
      endpoint,
      pid: State.Pid,
      log: () => lines.join("\n"),
      async end(signal) {
        if (signal === "SIGKILL") await handle.kill({ signal });
        await container.stop({ timeout: patienceMs });
      },
    } satisfies LaunchedEmulator;
  },
};

const socket = "/var/run/docker.sock";

/** Reached at 127.0.0.1 alone: through a published port, or, so that functions reach this machine, within its own network. */
class EmulatorContainer extends LocalstackContainer {
  constructor({ port, reachesHost }: Launch) {
    super(image);
    if (reachesHost) {
      this.exposedPorts = [];
      delete this.hostConfig.PortBindings;
      this.withNetworkMode("host").withEnvironment({ GATEWAY_PORT: `${port}`, BIND_HOST: "127.0.0.1" });
    } else {
      this.hostConfig.PortBindings = { [`${containerPort}/tcp`]: [{ HostIp: "127.0.0.1", HostPort: `${port}` }] };
    }
  }

  protected override async containerCreated(id: string): Promise<void> {
    removeWithUs(id);
  }
}

/** By its answer: some log that they are ready a moment before they listen. */
class Answers extends StartupCheckStrategy {
  readonly #endpoint: string;

  constructor(endpoint: string) {
    super();
    this.#endpoint = endpoint;
  }

  override async checkStartupState(...[engine, id]: Parameters<StartupCheckStrategy["checkStartupState"]>) {
    if (await answers(this.#endpoint)) return "SUCCESS" satisfies StartupStatus;
    const { State } = await engine.getContainer(id).inspect();
    return State.Running ? "PENDING" : "FAIL";
  }
}
