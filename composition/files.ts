import { createFilesSink } from "../shared/adapters/filesystem/sink.ts";
import { createFilesSource } from "../shared/adapters/filesystem/source.ts";
import type { Connector, Surroundings } from "./connector.ts";

/** Files of a disk. */
export function filesConnector({ bounded }: Surroundings): Connector {
  return {
    source: (options) => createFilesSource({ ...(options as { path: string }), bounded }),
    sink: (options) => createFilesSink(options as { path: string }),
    close: async () => {},
  };
}
