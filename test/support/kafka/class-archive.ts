import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cachedFolder } from "../cached-folder.ts";
import { archivesFolder } from "./jars.ts";
import type { KafkaVersion } from "./versions.ts";

/**
 * Options of `java` by which one of our programs maps its classes from an archive, rather than to read and verify them again: that is half of what a start
 * costs, and tests start brokers often. The first time `rehearse` runs the program, with options by which Java writes the archive when the program ends (JEP 350).
 * Java leaves an archive alone that does not fit.
 */
export async function classArchive(
  version: KafkaVersion,
  program: "Broker" | "Oracle",
  rehearse: (options: readonly string[]) => Promise<void>,
): Promise<readonly string[]> {
  const quiet = "-Xlog:disable"; // standard output is the program's own
  const archive = "classes.jsa";
  const folder = await cachedFolder(join(await archivesFolder(version), program), async (unfinished) => {
    mkdirSync(unfinished);
    await rehearse([quiet, `-XX:ArchiveClassesAtExit=${join(unfinished, archive)}`]);
  });
  return [quiet, `-XX:SharedArchiveFile=${join(folder, archive)}`];
}
