import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cachedFolder, run } from "../cached-folder.ts";

const ministack = "1.5.33";

/** Where the environment is kept from one test run to the next. */
const cache =
  process.env.EPOCHFLOW_EMULATOR_CACHE ??
  fileURLToPath(new URL("../../../node_modules/.cache/epochflow-emulator", import.meta.url));

const missing = "An emulator without Docker needs Python 3 with venv; on Debian: apt-get install python3-venv";

/**
 * A Python that has ministack, in an environment of its own, which is made the first time.
 *
 * @throws Error if there is no Python with venv, or the package cannot be had
 */
export async function pythonWithMinistack(): Promise<string> {
  const folder = await cachedFolder(join(cache, `ministack-${ministack}`), async (unfinished) => {
    await run("python3", ["-m", "venv", unfinished], missing).catch((error) => {
      throw new Error(`${error.message}\n${missing}`, { cause: error });
    });
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", `ministack==${ministack}`];
    await run(join(unfinished, "bin", "python"), install, missing);
  });
  return join(folder, "bin", "python");
}
