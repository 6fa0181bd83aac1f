import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, command } from "../../support/kafka/jars.ts";

export type JavaModule = "flink" | "kstreams" | "spark" | "tools";

const sources = fileURLToPath(new URL("java", import.meta.url));
const built = join(cacheFolder, "peers");
/** Clones of different versions share a cache. */
const classes = `classes-${digestOf(sources)}`;

/** Makes what users install of epochflow: that is what is measured, and not the sources. */
export async function buildPackage(): Promise<void> {
  await command(process.execPath, [fileURLToPath(new URL("../../../build.ts", import.meta.url))]);
}

/** Resolves the modules' jars and compiles them, as far as that is not done yet. */
export async function buildJava(modules: readonly JavaModule[]): Promise<void> {
  mkdirSync(built, { recursive: true });
  const select = ["--projects", modules.join(",")];
  await command("mvn", [
    "--quiet",
    "--batch-mode",
    ...["--file", join(sources, "pom.xml")],
    ...select,
    `-Dbuild.folder=${built}`,
    `-Dclasses.folder=${classes}`,
    "process-classes",
  ]);
}

function digestOf(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const hash = createHash("sha256");
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).sort())
    hash.update(path.slice(folder.length)).update(readFileSync(path));
  return hash.digest("hex").slice(0, 12);
}

/** What Spark and Flink reach into. */
const opened =
  "java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.time java.util java.util.concurrent " +
  "java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar";

export interface JavaOptions {
  /** A folder of the run's own: native libraries are unpacked there, and a process that is killed leaves them. */
  readonly work: string;
  /** Default 3 GiB, as every engine has. */
  readonly heap?: string;
}

/** The command that runs a class of a module. */
export function javaCommand(
  module: JavaModule,
  name: string,
  parameters: readonly string[],
  { work, heap = "3g" }: JavaOptions,
): string[] {
  const folder = join(built, `peers-${module}`);
  return [
    ...["java", `-Xmx${heap}`, `-Djava.io.tmpdir=${work}`, "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"],
    ...opened.split(" ").map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
    ...["-cp", `${join(folder, classes)}:${join(folder, "lib", "*")}`, `peers.${name}`, ...parameters],
  ];
}
