import { existsSync, mkdtempDisposableSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** Tests are about order and atomicity, which a file system in memory has too, and not about how fast a disk syncs. */
const root = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** An empty folder, which goes with the end of its scope. */
export function temporaryFolder(): Disposable & { readonly path: string } {
  return mkdtempDisposableSync(join(root, "epochflow-test-"));
}

/** The same, which goes with the end of a test. */
export function folderOf(test: TestContext): string {
  const folder = temporaryFolder();
  test.after(() => folder[Symbol.dispose]());
  return folder.path;
}

/** Every file below a folder, by its path in it. */
export function readTree(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(join(folder, name))]));
}

/** How two trees differ, a line each; empty if they are equal byte for byte. */
export function differences(actual: ReadonlyMap<string, Buffer>, expected: ReadonlyMap<string, Buffer>): string[] {
  const names = [...new Set([...actual.keys(), ...expected.keys()])].sort();
  return names.flatMap((name) => {
    const one = actual.get(name);
    const other = expected.get(name);
    if (one === undefined) return `${name} is missing`;
    if (other === undefined) return `${name} should not be there`;
    return one.equals(other) ? [] : `${name} differs:\n${excerpt(one)}\ninstead of\n${excerpt(other)}`;
  });
}

const excerpt = (bytes: Buffer) => `  ${bytes.toString("utf8", 0, 600).trimEnd().replaceAll("\n", "\n  ")}`;
