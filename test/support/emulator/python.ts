import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cache, cachedFolder, run } from "../cached-folder.ts";

const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));

const toInstall = "An emulator without Docker needs Python 3 with venv; on Debian: apt-get install python3-venv.";

/** What to install so that `pythonWithMinistack` works; undefined if that is there. */
export async function whyNoPython(): Promise<string | undefined> {
  return await pythonVersion().then(
    () => undefined,
    () => toInstall,
  );
}

/**
 * A Python that has ministack, in an environment of its own, which is made the first time.
 *
 * @throws Error if there is no Python with venv, or the package cannot be had
 */
export async function pythonWithMinistack(): Promise<string> {
  const [ministack] = readFileSync(requirements, "utf8").trim().split("\n");
  const name = `${ministack!.replace("==", "-")}-python-${await pythonVersion()}`;
  const folder = await cachedFolder(join(cache, "emulator", name), async (unfinished) => {
    await run("python3", ["-m", "venv", unfinished], toInstall);
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements];
    await run(join(unfinished, "bin", "python"), install, toInstall);
  });
  return join(folder, "bin", "python");
}

let version: Promise<string> | undefined;

/** An environment belongs to one version, whose files it links to. @throws Error if there is no Python, or none with venv */
function pythonVersion(): Promise<string> {
  const program = "import ensurepip, platform, venv; print(platform.python_version())";
  version ??= run("python3", ["-c", program], toInstall).then((printed) => printed.trim());
  return version;
}
