import { LocalstackContainer } from "@testcontainers/localstack";
import { getContainerRuntimeClient, Wait } from "testcontainers";
import { healthPath, image, type LaunchedEmulator, type Launcher } from "./launcher.ts";

const port = 4566;

/** Of the log, in an error. */
const tailLines = 40;

/** Longest time until SIGTERM becomes SIGKILL. */
const patienceMs = 10_000;

/** LocalStack, or what serves the same interfaces, through testcontainers. */
export const containerLauncher: Launcher = {
  name: "containers",
  async launch({ port: hostPort }) {
    const lines: string[] = [];
    const container = await new LocalstackContainer(image)
      .withExposedPorts({ container: port, host: hostPort })
      .withLogConsumer((log) => log.on("data", (line) => lines.push(`${line}`.trimEnd())))
      // By its answer: some log that they are ready a moment before they listen.
      .withWaitStrategy(Wait.forHttp(healthPath, port))
      .start()
      .catch((error) => {
        const log = lines.slice(-tailLines).join("\n");
        throw new Error(`the emulator did not start: ${error.message}\n${log}`, { cause: error });
      });
    const { container: containers } = await getContainerRuntimeClient();
    const handle = containers.getById(container.getId());
    const { State } = await handle.inspect();
    return {
      endpoint: `http://127.0.0.1:${hostPort}`,
      pid: State.Pid,
      log: () => lines.slice(-tailLines).join("\n"),
      async end(signal) {
        if (signal === "SIGKILL") await handle.kill({ signal });
        await container.stop({ timeout: patienceMs });
      },
    } satisfies LaunchedEmulator;
  },
};
