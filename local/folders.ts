import { statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { isS3Path } from "../composition/s3-path.ts";
import { UsageError } from "../shared/errors.ts";
import type { Topology } from "../shared/pipeline/topology.ts";
import { displayPath } from "./paths.ts";

/** Folders of the files sinks, by id; of those in a bucket the address. */
export function outputsOf(topology: Topology): Record<string, string> {
  return Object.fromEntries(
    Object.entries(topology.sinks).flatMap(([id, { kind, options }]) =>
      kind === "files" ? [[id, pathOf(options.path)]] : [],
    ),
  );
}

/** Topics of the Kafka sinks, by id; "" where rows choose. */
export function topicsOf({ sinks }: Topology): Record<string, string> {
  return Object.fromEntries(
    Object.entries(sinks).flatMap(
      ([
        id,
        {
          kind,
          options: { topic },
        },
      ]) => (kind === "kafka" ? [[id, typeof topic === "string" ? topic : ""]] : []),
    ),
  );
}

const pathOf = (path: unknown) => (isS3Path(path) ? path : resolve(String(path)));

/**
 * Refuses folders that would get into each other's way, before anything is written.
 *
 * @throws UsageError `same-output` for two sinks with one folder; `output-in-input` for a sink's folder or the state in the folder that is read
 */
export function checkFolders(topology: Topology, state: string): void {
  const outputs = outputsOf(topology);
  refuseSharedOutput(topology, outputs);
  const input = inputFolderOf(topology);
  if (input === undefined) return;
  refuseInside(topology, input, "The state", state);
  for (const [sink, folder] of Object.entries(outputs))
    refuseInside(topology, input, `The output of sink ${sink}`, folder);
}

function refuseSharedOutput({ name }: Topology, outputs: Readonly<Record<string, string>>): void {
  const owners = new Map<string, string>();
  for (const [sink, folder] of Object.entries(outputs)) {
    const other = owners.get(folder);
    owners.set(folder, sink);
    if (other === undefined) continue;
    throw new UsageError("same-output", `Sinks ${other} and ${sink} write to the same folder, ${displayPath(folder)}`, {
      wayOut: "Give each sink a folder of its own.",
      place: { pipeline: name },
    });
  }
}

function refuseInside({ name }: Topology, input: string, what: string, folder: string): void {
  if (!isReadWith(input, folder)) return;
  const message = `${what}, ${displayPath(folder)}, lies in the input folder ${displayPath(input)}, and would be read`;
  throw new UsageError("output-in-input", message, {
    wayOut: "Choose a folder beside the input, or one whose name begins with . or _, which is not read.",
    place: { pipeline: name },
  });
}

/** The folder that a files source reads; undefined if it reads a single file. */
function inputFolderOf({ nodes: [node] }: Topology): string | undefined {
  if (node?.kind !== "source" || node.source.kind !== "files") return undefined;
  const path = resolve(String(node.source.options.path));
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : undefined;
}

/** Whether the source of an input folder finds what is in the other folder: it passes over what begins with `.`, which `..` does too, or `_`. */
function isReadWith(input: string, folder: string): boolean {
  return relative(input, folder)
    .split(sep)
    .every((part) => !/^[._]/.test(part));
}
