import { readFile } from "node:fs/promises";
import { LossError } from "../../errors.ts";
import { createWhole, unlessMissing } from "./durable.ts";
import { type OutputLayout, type SinkOwner, sealPrefix } from "./output-layout.ts";

/**
 * Takes possession of an output folder for a sink of a ledger, or finds that it has it already. Epoch numbers mean something to one ledger only:
 * two of them in one folder would take each other's files for their own.
 *
 * @throws LossError `output-belongs-to-another`, `owner-mark-damaged`
 */
export async function claimOutput(layout: OutputLayout, { pipeline, uid, sink }: SinkOwner): Promise<void> {
  const own = { pipeline, uid, sink };
  const owner = (await readOwner(layout)) ?? (await mark(layout, own));
  if (owner.pipeline === pipeline && owner.uid === uid && owner.sink === sink) return;
  throw new LossError(
    "output-belongs-to-another",
    `the output folder ${layout.root} belongs to ${describe(owner)}, not to ${describe(own)}`,
    {
      wayOut: `Choose another output folder, or, if nobody needs the rows in it, delete ${layout.root}.`,
      place: { pipeline, sink, file: layout.root },
    },
  );
}

/** Of two that mark at the same time one wins, and the other reads who. */
async function mark(layout: OutputLayout, own: SinkOwner): Promise<SinkOwner> {
  const temporary = { folder: layout.staging, prefix: sealPrefix(own, 0) };
  await createWhole(layout.ownerMark, `${JSON.stringify(own)}\n`, temporary);
  return (await readOwner(layout)) ?? own;
}

async function readOwner({ ownerMark }: OutputLayout): Promise<SinkOwner | undefined> {
  const text = await unlessMissing(readFile(ownerMark, "utf8"));
  if (text === undefined) return undefined;
  const owner = parseOwner(text);
  if (owner !== undefined) return owner;
  throw new LossError("owner-mark-damaged", `${ownerMark} does not say whose the output is`, {
    wayOut: "Restore it from a backup, or choose another output folder.",
    place: { file: ownerMark },
  });
}

function parseOwner(text: string): SinkOwner | undefined {
  try {
    const { pipeline, uid, sink } = JSON.parse(text);
    return [pipeline, uid, sink].every((one) => typeof one === "string") ? { pipeline, uid, sink } : undefined;
  } catch {
    return undefined;
  }
}

function describe({ pipeline, uid, sink }: SinkOwner): string {
  return `sink ${sink} of pipeline ${pipeline} (ledger ${uid})`;
}
