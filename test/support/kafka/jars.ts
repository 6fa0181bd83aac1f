import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
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
  if (!existsSync(jars) || !existsSync(classes)) {
    using _ = await lock(join(cacheFolder, "lock.sqlite"));
    await make(jars, (folder) => resolveJars(version, folder));
    await make(classes, (folder) => compile(join(jars, "*"), folder));
  }
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

/** Makes a folder whole or not at all. */
async function make(folder: string, fill: (unfinished: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  await fill(unfinished);
  renameSync(unfinished, folder);
}

function sourceDigest(): string {
  const hash = createHash("sha256");
  for (const file of javaFiles()) hash.update(file).update(readFileSync(join(sources, file)));
  return hash.digest("hex").slice(0, 12);
}

const javaFiles = () => readdirSync(sources).sort();

/** A lock among processes that the operating system takes back when its holder dies: an exclusive transaction of SQLite. */
async function lock(file: string): Promise<Disposable> {
  mkdirSync(cacheFolder, { recursive: true });
  const database = new DatabaseSync(file, { timeout: 100 });
  for (;;) {
    try {
      database.exec("BEGIN EXCLUSIVE");
      return { [Symbol.dispose]: () => database.close() };
    } catch (error) {
      if (!(error instanceof Error && /locked/.test(error.message))) throw error;
      await sleep(100);
    }
  }
}

/** @throws Error with what the program wrote if it fails, and with what to install if there is none of that name */
export async function command(program: string, parameters: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)(program, parameters, { maxBuffer: 1 << 26 });
  } catch (error) {
    const { code, stdout = "", stderr = "", message } = error as Error & Record<"code" | "stdout" | "stderr", string>;
    if (code === "ENOENT")
      throw new Error(
        `There is no "${program}" on the PATH. A broker from jars needs a JDK (17 or newer) and Maven; on Debian: apt-get install default-jdk-headless maven`,
        { cause: error },
      );
    throw new Error(`${program} failed: ${`${stdout}${stderr}`.trim() || message}`, { cause: error });
  }
}
