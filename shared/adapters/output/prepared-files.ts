import { LossError } from "../../errors.ts";
import { isManifestFile, type ManifestFile } from "./manifest.ts";
import { baseOf, ownerName, parseFinalName, parseStagedName, type SinkOwner, stagedFileName } from "./names.ts";

/** What a task has pre-committed, as the ledger holds it. `staged`: what the names of its staged files begin with. */
export type PreparedFiles<Extra extends object = object> = {
  readonly staged: string;
  readonly files: readonly (ManifestFile & Extra)[];
};

/** The same of a task with one file, as it was when tasks had one: a ledger may hold such until they are committed. */
export type PreparedFile = ManifestFile & { readonly staged: string };

/** A file that is to be published. `staged` is its name. */
export type StagedOutput<Extra extends object = object> = ManifestFile & Extra & { readonly staged: string };

export type EpochContext = SinkOwner & { readonly epoch: number };

/** The ledger's word is not trusted to name this sink's files, nor to stay in its folder. @throws LossError `handle-invalid` */
export function checkPrepared<Extra extends object>(
  context: EpochContext,
  prepared: PreparedFiles<Extra>,
): StagedOutput<Extra>[] {
  const files = outputsOf(prepared);
  if (files.every((file) => isOf(context, file))) return files;
  const { pipeline, sink, epoch } = context;
  throw invalid(`sink ${sink} of epoch ${epoch} in pipeline ${pipeline}`, { pipeline, sink, epoch });
}

/** The files of a handle, none of which leads out of its folder. @throws LossError `handle-invalid` */
export function outputsOf<Extra extends object>(prepared: PreparedFiles<Extra>): StagedOutput<Extra>[] {
  const files: readonly StagedOutput<Extra>[] = Array.isArray(prepared?.files)
    ? prepared.files.map((file, number) => ({ ...file, staged: stagedFileName(String(prepared.staged), number) }))
    : [prepared as unknown as StagedOutput<Extra>];
  if (files.every((file) => isManifestFile(file) && parseStagedName(String(file.staged)))) return [...files];
  throw invalid("a files sink", {});
}

function isOf(context: EpochContext, { staged, file }: StagedOutput): boolean {
  const name = parseStagedName(staged)!;
  const final = parseFinalName(baseOf(file));
  const isTasks = final?.epoch === name.epoch && final.stage === name.stage && final.task === name.task;
  return isTasks && name.owner === ownerName(context) && name.epoch === context.epoch;
}

function invalid(whose: string, place: Partial<EpochContext>): LossError {
  return new LossError("handle-invalid", `the ledger holds a handle of ${whose} that the sink did not make`, {
    wayOut: "The ledger is damaged: restore it from a backup, or start anew with `epochflow reset`.",
    place,
  });
}
