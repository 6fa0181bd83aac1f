import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isS3Path, parseS3Path } from "../../composition/s3-path.ts";
import { fileSystemError } from "../../shared/adapters/filesystem/errors.ts";
import { outputLayout } from "../../shared/adapters/filesystem/output-layout.ts";
import { readOwner } from "../../shared/adapters/filesystem/owner-mark.ts";
import type { SinkOwner } from "../../shared/adapters/output/names.ts";
import { checkOwner } from "../../shared/adapters/output/owner.ts";
import { type Finding, failure, finding } from "../../shared/finding.ts";
import { displayPath } from "../paths.ts";

/** Less than this is soon gone. */
const fewBytes = 1_000_000_000;

/** Whether a folder that may not be there yet can be written to, and has room. */
export async function checkWritable(path: string): Promise<Finding[]> {
  const folder = await existingAbove(resolve(path));
  try {
    if (!(await stat(folder)).isDirectory()) throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
    await access(folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    if (free >= fewBytes) return [];
    const message = `The disk of ${displayPath(resolve(path))} has ${Math.floor(free / 1e6)} MB left`;
    return [
      finding(
        "warning",
        "disk-nearly-full",
        message,
        "Free some space. A full disk loses nothing, but stops the run.",
        { file: folder },
      ),
    ];
  } catch (error) {
    return [failure(fileSystemError(error, "write", folder))];
  }
}

/** @param own whose output it will be; the uid is undefined before the first run */
export async function checkOutput(
  path: string,
  own: Omit<SinkOwner, "uid"> & { readonly uid: string | undefined },
): Promise<Finding[]> {
  const root = isS3Path(path) ? path : resolve(path);
  const findings = isS3Path(path) ? [] : [...(await checkWritable(root)), ...(await checkOneFileSystem(root))];
  if (findings.some(({ level }) => level === "error")) return findings;
  try {
    const owner = isS3Path(path) ? await ownerInBucket(path) : await readOwner(outputLayout(root));
    if (owner !== undefined) checkOwner(owner, { ...own, uid: own.uid ?? "none yet" }, displayed(root));
  } catch (error) {
    findings.push(failure(error));
  }
  return findings;
}

const displayed = (root: string) => (isS3Path(root) ? root : displayPath(root));

async function checkOneFileSystem(root: string): Promise<Finding[]> {
  const [above, below] = await Promise.all(
    [root, join(root, ".epochflow")].map((path) => stat(path).catch(() => undefined)),
  );
  if (above === undefined || below === undefined || above.dev === below.dev) return [];
  const message = `${displayPath(root)} and .epochflow in it are on two file systems, between which nothing can be published at once`;
  return [finding("error", "two-file-systems", message, "Unmount the one at .epochflow.", { file: root })];
}

async function ownerInBucket(path: string): Promise<SinkOwner | undefined> {
  const { S3Client } = await import("@aws-sdk/client-s3");
  const { clientSettings } = await import("../../shared/adapters/aws/client-settings.ts");
  const { OutputPlace } = await import("../../shared/adapters/s3/output-place.ts");
  const owners = await import("../../shared/adapters/s3/owner-mark.ts");
  const client = new S3Client(clientSettings({ maxAttempts: 2 }));
  try {
    return await owners.readOwner(new OutputPlace("check", { client, ...parseS3Path(path) }));
  } finally {
    client.destroy();
  }
}

async function existingAbove(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined);
    if (found !== undefined || folder === dirname(folder)) return folder;
  }
}
