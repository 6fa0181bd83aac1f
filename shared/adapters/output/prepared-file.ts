import { LossError } from "../../errors.ts";
import { isManifestFile } from "./manifest.ts";
import { finalName, ownerName, parseStagedName, type SinkOwner } from "./names.ts";

/** A pre-committed file, as the ledger holds it: names without folders, its size, and a SHA-256 in hexadecimal. */
export type PreparedFile = {
  readonly staged: string;
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly digest: string;
};

export type EpochContext = SinkOwner & { readonly epoch: number };

/** The ledger's word is not trusted to name this sink's files, nor to stay in its folder. @throws LossError `handle-invalid` */
export function checkPrepared<P extends PreparedFile>(context: EpochContext, prepared: P): P {
  const name = isManifestFile(prepared) ? parseStagedName(String(prepared.staged)) : undefined;
  const mine = name?.owner === ownerName(context) && name.epoch === context.epoch && prepared.file === finalName(name);
  if (mine) return prepared;
  const { pipeline, sink, epoch } = context;
  throw invalid(`sink ${sink} of epoch ${epoch} in pipeline ${pipeline}`, { pipeline, sink, epoch });
}

/** The name of the staged file. @throws LossError `handle-invalid` */
export function checkStagedName(prepared: PreparedFile): string {
  if (parseStagedName(String(prepared?.staged)) !== undefined) return prepared.staged;
  throw invalid("a files sink", {});
}

function invalid(whose: string, place: Partial<EpochContext>): LossError {
  return new LossError("handle-invalid", `the ledger holds a handle of ${whose} that the sink did not make`, {
    wayOut: "The ledger is damaged: restore it from a backup, or start anew with `epochflow reset`.",
    place,
  });
}
