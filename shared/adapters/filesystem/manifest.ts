import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type EpochRange, indexName, type ManifestSource, manifestName, manifestsAmong } from "../output/manifest.ts";
import { unlessMissing } from "./durable.ts";
import type { OutputLayout } from "./output-layout.ts";

export function manifestPath({ manifests }: OutputLayout, epoch: number): string {
  return join(manifests, manifestName(epoch));
}

export function indexPath({ manifests }: OutputLayout, block: EpochRange): string {
  return join(manifests, indexName(block));
}

/** All files with manifests, by first epoch; an index before single ones that it covers. */
export async function listManifests({ manifests }: OutputLayout): Promise<ManifestSource[]> {
  return manifestsAmong((await unlessMissing(readdir(manifests))) ?? [], (name) => join(manifests, name));
}
