import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
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
  const parameters = [broker.bootstrap, topic, String(records), file];
  const [program, ...all] = javaCommand("tools", "Load", parameters, { work: folder, heap: "1g" });
  await promisify(execFile)(program!, all);
  const expected = await countWords(file);
  rmSync(file);
  return { topic, records, expected };
}
