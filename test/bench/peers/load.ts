import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { countWords } from "../count-words.ts";
import { javaCommand } from "./build.ts";
import type { Lines } from "./throughput.ts";
import { partitions, type World } from "./world.ts";

const topic = "lines";

/** Fills the topic, and counts what is in it without any of the engines. */
export async function loadLines({ broker, oracle, folder }: World, records: number): Promise<Lines> {
  await oracle.createTopic(topic, partitions);
  const file = join(folder, "lines.tsv");
  const [program, ...parameters] = javaCommand("tools", "Load", [broker.bootstrap, topic, String(records), file], "1g");
  await promisify(execFile)(program!, parameters);
  return { topic, records, expected: await countWords(file) };
}
