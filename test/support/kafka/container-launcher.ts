import { userInfo } from "node:os";
import { join } from "node:path";
import { GenericContainer, getContainerRuntimeClient, Wait } from "testcontainers";
import { removeWithUs } from "../docker.ts";
import { clusterId, imageOf, type KafkaTool, type LaunchedBroker, type Launcher, started } from "./launcher.ts";

/** Formats the data's folder if it is new, and becomes the broker. */
const script = `
set -e
folder=$1; shift
[ -e "$folder/data/meta.properties" ] ||
  /opt/kafka/bin/kafka-storage.sh format --config "$folder/server.properties" --cluster-id ${clusterId} "$@"
exec /opt/kafka/bin/kafka-server-start.sh "$folder/server.properties"
`;

/** Of the log, in an error. */
const tailLines = 40;

/** Longest time until SIGTERM becomes SIGKILL. */
const patienceMs = 30_000;

/** The official image, through testcontainers. It sees the folder under its path here, and serves the same ports as here. */
export const containerLauncher: Launcher = {
  name: "containers",
  bind: "0.0.0.0",
  async launch({ version, folder, ports, format, jvm }) {
    const lines: string[] = [];
    const { uid, gid } = userInfo();
    const container = await new BrokerContainer(imageOf(version))
      .withBindMounts([{ source: folder, target: folder }])
      .withUser(`${uid}:${gid}`) // what it writes has to be ours to remove
      .withEnvironment({
        LOG_DIR: join(folder, "logs"),
        KAFKA_HEAP_OPTS: jvm.join(" "),
        KAFKA_JVM_PERFORMANCE_OPTS: "-Djava.awt.headless=true",
      })
      .withEntrypoint(["bash", "-c", script, "kafka", folder, ...format])
      .withExposedPorts(...ports.map((port) => ({ container: port, host: port })))
      .withLogConsumer((log) => log.on("data", (line) => lines.push(`${line}`.trimEnd())))
      .withWaitStrategy(Wait.forLogMessage(started))
      .start()
      .catch((error) => {
        throw new Error(`Kafka did not start: ${error.message}\n${lines.slice(-tailLines).join("\n")}`, {
          cause: error,
        });
      });
    const { container: containers } = await getContainerRuntimeClient();
    const handle = containers.getById(container.getId());
    const { State } = await handle.inspect();
    return {
      pid: State.Pid,
      log: () => lines.slice(-tailLines).join("\n"),
      async end(signal) {
        if (signal === "SIGKILL") await handle.kill({ signal });
        await container.stop({ timeout: patienceMs });
      },
      command: (tool: KafkaTool) =>
        `docker exec -it ${container.getName().replace("/", "")} /opt/kafka/bin/kafka-${tool}.sh`,
    } satisfies LaunchedBroker;
  },
};

class BrokerContainer extends GenericContainer {
  protected override async containerCreated(id: string): Promise<void> {
    removeWithUs(id);
  }
}
