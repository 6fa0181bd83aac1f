import { hash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createWhole, makeFolder, unlessMissing } from "../../shared/adapters/filesystem/durable.ts";
import { fileSystemError } from "../../shared/adapters/filesystem/errors.ts";
import { LossError, UserCodeError } from "../../shared/errors.ts";
import type { ObjectStore } from "../../shared/ports/object-store.ts";
import type {
  CommitContext,
  RefusedRow,
  SinkContext,
  Transaction,
  TwoPhaseCommitSink,
} from "../../shared/ports/sink.ts";
import type { FailedRecord } from "./letter.ts";

/** A file of lines: staged in the object store, published under its name. */
type LinesFile = { readonly object: string; readonly file: string; readonly digest: string };

const lineFeed = 10;

class Lines implements Transaction<FailedRecord> {
  readonly context: SinkContext;
  readonly chunks: Uint8Array[] = [];
  replays = 0;

  constructor(context: SinkContext) {
    this.context = context;
  }

  write(records: readonly FailedRecord[], refused: RefusedRow): void {
    for (const [index, { value, replays }] of records.entries()) {
      if (value === null) refused(index, notALine("it has no value"));
      else if (value.includes(lineFeed)) refused(index, notALine("it has a line end in it"));
      else {
        this.chunks.push(value, Buffer.of(lineFeed));
        this.replays = Math.max(this.replays, replays + 1);
      }
    }
  }

  async drained(): Promise<void> {}
}

const notALine = (why: string) => new UserCodeError("not-a-line", `the record is no line of a file: ${why}`);

/** Records as lines, a file a batch, in a folder that a files source reads: each file appears whole, or not at all, and once. */
export function createLinesSink(
  path: string,
  objects: ObjectStore,
): TwoPhaseCommitSink<FailedRecord, LinesFile, LinesFile> {
  const folder = resolve(path);
  const named = <T>(work: Promise<T>) =>
    work.catch((error) => {
      throw fileSystemError(error, "put records back", folder);
    });
  return {
    open: () => named(makeFolder(folder)),
    begin: async (context) => new Lines(context),
    async preCommit(transaction) {
      const { context, chunks, replays } = transaction as Lines;
      if (chunks.length === 0) return undefined;
      const bytes = Buffer.concat(chunks);
      const { pipeline, uid, epoch, nonce } = context;
      const object = `${pipeline}/${uid}/${epoch}-${nonce}.lines`;
      await objects.put(object, [bytes], { durable: true });
      return { object, file: `replay-${replays}-${uid}-${epoch}.txt`, digest: hash("sha256", bytes) };
    },
    commit: (context) => named(publish(folder, objects, context)),
    abort: async () => {},
    close: async () => {},
  };
}

async function publish(folder: string, objects: ObjectStore, { unit }: CommitContext<LinesFile>): Promise<void> {
  const path = join(folder, unit.file);
  const isThere = async () => {
    const found = await unlessMissing(stat(path));
    if (found === undefined) return false;
    if (hash("sha256", await readFile(path)) === unit.digest) return true;
    throw lost("replay-file-taken", `${path} is there already, with other lines`, path);
  };
  if (await isThere()) return;
  const bytes = await objects.get(unit.object);
  if (bytes === undefined || hash("sha256", bytes) !== unit.digest)
    throw lost(
      "replay-staged-missing",
      `the lines of ${unit.file} are missing, or damaged, in the replay's state`,
      path,
    );
  // What begins with a dot is not read by a files source.
  await createWhole(path, bytes, { folder, prefix: ".replay" });
  await isThere();
}

function lost(code: string, message: string, file: string): LossError {
  return new LossError(code, message, {
    wayOut:
      "Was the state of this replay deleted, or the folder restored? Look which lines are there before you replay again, with another --state.",
    place: { file },
  });
}
