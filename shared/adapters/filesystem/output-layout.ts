import { join, resolve } from "node:path";

/** Where a files sink keeps things. All below `root`, so that publishing is a matter of names. */
export interface OutputLayout {
  readonly root: string;
  /** Files that are being written, or are pre-committed. */
  readonly staging: string;
  readonly manifests: string;
  readonly ownerMark: string;
}

export function outputLayout(path: string): OutputLayout {
  const root = resolve(path);
  const own = join(root, ".epochflow");
  return { root, staging: join(own, "staging"), manifests: join(own, "manifests"), ownerMark: join(own, "owner.json") };
}
