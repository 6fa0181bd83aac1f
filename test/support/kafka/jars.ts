import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cachedFolder, run } from "../cached-folder.ts";
import type { KafkaVersion } from "./versions.ts";

const pom = fileURLToPath(new URL("pom.xml", import.meta.url));
const sources = fileURLToPath(new URL("java", import.meta.url));

/** Where jars and compiled classes are kept from one test run to the next. */
export const cacheFolder =
  process.env.EPOCHFLOW_KAFKA_CACHE ??
  fileURLToPath(new URL("../../../node_modules/.cache/epochflow-kafka", import.meta.url));

/**
 * The class path of a Kafka version and of our own Java programs beside it. The first time Maven resolves the jars and javac compiles the programs, for all
 * test files that run at the same moment.
 *
 * @throws Error if there is no Java or no Maven, or a jar cannot be had
 */
export async function kafkaClassPath(version: KafkaVersion): Promise<string> {
  const jars = join(cacheFolder, version, "jars");
  const classes = join(cacheFolder, version, `classes-${sourceDigest()}`);
  await cachedFolder(jars, (folder) => resolveJars(version, folder));
  await cachedFolder(classes, (folder) => compile(join(jars, "*"), folder));
  return `${classes}:${join(jars, "*")}`;
}

async function resolveJars(version: KafkaVersion, folder: string): Promise<void> {
  const copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", `-DoutputDirectory=${folder}`];
  await command("mvn", ["--quiet", "--batch-mode", "--file", pom, `-Dkafka.version=${version}`, ...copy]);
}

async function compile(jars: string, folder: string): Promise<void> {
  const files = javaFiles().map((file) => join(sources, file));
  await command("javac", ["--release", "17", "-cp", jars, "-d", folder, ...files]);
}

function sourceDigest(): string {
  const hash = createHash("sha256");
  for (const file of javaFiles()) hash.update(file).update(readFileSync(join(sources, file)));
  return hash.digest("hex").slice(0, 12);
}

const javaFiles = () => readdirSync(sources).sort();

const toInstall =
  "A broker from jars needs a JDK (17 or newer) and Maven; on Debian: apt-get install default-jdk-headless maven";

/** @throws Error with what the program wrote if it fails, and with what to install if there is none of that name */
export const command = (program: string, parameters: readonly string[]): Promise<void> =>
  run(program, parameters, toInstall);
