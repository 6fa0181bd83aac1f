import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cache, cachedFolder, hasProgram, run } from "../cached-folder.ts";
import type { KafkaVersion } from "./versions.ts";

const pom = fileURLToPath(new URL("pom.xml", import.meta.url));
const sources = fileURLToPath(new URL("java", import.meta.url));

/** Where jars and compiled classes are kept from one test run to the next. */
export const cacheFolder = join(cache, "kafka");

/**
 * The class path of a Kafka version and of our own Java programs beside it. The first time Maven resolves the jars and javac compiles the programs, for all
 * test files that run at the same moment.
 *
 * @throws Error if there is no Java or no Maven, or a jar cannot be had
 */
export async function kafkaClassPath(version: KafkaVersion): Promise<string> {
  const jars = join(cacheFolder, version, `jars-${digest([pom])}`);
  const programs = join(cacheFolder, version, `programs-${digest(javaFiles())}`);
  await cachedFolder(jars, (folder) => resolveJars(version, folder));
  await cachedFolder(programs, (folder) => compile(join(jars, "*"), folder));
  return `${join(programs, "programs.jar")}:${join(jars, "*")}`;
}

/** Where archives of the classes on that path are kept, for the Java that there is. */
export async function archivesFolder(version: KafkaVersion): Promise<string> {
  javaVersion ??= command("java", ["--version"]);
  return join(cacheFolder, version, `archives-${digest([pom, ...javaFiles()], await javaVersion)}`);
}

let javaVersion: Promise<string> | undefined;

async function resolveJars(version: KafkaVersion, folder: string): Promise<void> {
  const copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", `-DoutputDirectory=${folder}`];
  await command("mvn", ["--quiet", "--batch-mode", "--file", pom, `-Dkafka.version=${version}`, ...copy]);
}

async function compile(jars: string, folder: string): Promise<void> {
  const classes = join(folder, "classes");
  await command("javac", ["--release", "17", "-cp", jars, "-d", classes, ...javaFiles()]);
  // A folder of classes on its path would keep Java from archiving them.
  await command("jar", ["--create", "--file", join(folder, "programs.jar"), "-C", classes, "."]);
}

/** Clones of different versions share a cache. */
function digest(files: readonly string[], more = ""): string {
  const hash = createHash("sha256").update(more);
  for (const file of files) hash.update(basename(file)).update(readFileSync(file));
  return hash.digest("hex").slice(0, 12);
}

const javaFiles = () =>
  readdirSync(sources)
    .sort()
    .map((file) => join(sources, file));

const toInstall =
  "A broker from jars needs a JDK (17 or newer) and Maven; on Debian: apt-get install default-jdk-headless maven.";

/** What to install so that `kafkaClassPath` works; undefined if that is there. */
export const whyNoJava = (): string | undefined =>
  ["java", "javac", "jar", "mvn"].every(hasProgram) ? undefined : toInstall;

/** @throws Error with what the program wrote if it fails, and with what to install if there is none of that name */
export const command = (program: string, parameters: readonly string[]): Promise<string> =>
  run(program, parameters, toInstall);
