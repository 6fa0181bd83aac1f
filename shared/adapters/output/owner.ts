import { LossError } from "../../errors.ts";
import type { SinkOwner } from "./names.ts";

export function ownerText({ pipeline, uid, sink }: SinkOwner): string {
  return `${JSON.stringify({ pipeline, uid, sink })}\n`;
}

/** @throws LossError `owner-mark-damaged` */
export function parseOwner(text: string, mark: string): SinkOwner {
  const owner = parse(text);
  if (owner !== undefined) return owner;
  throw new LossError("owner-mark-damaged", `${mark} does not say whose the output is`, {
    wayOut: "Restore it from a backup, or choose another output.",
    place: { file: mark },
  });
}

/** @throws LossError `output-belongs-to-another` */
export function checkOwner(owner: SinkOwner, { pipeline, uid, sink }: SinkOwner, output: string): void {
  if (owner.pipeline === pipeline && owner.uid === uid && owner.sink === sink) return;
  throw new LossError(
    "output-belongs-to-another",
    `the output ${output} belongs to ${describe(owner)}, not to ${describe({ pipeline, uid, sink })}`,
    {
      wayOut: `Choose another output, or, if nobody needs the rows in it, delete ${output}.`,
      place: { pipeline, sink, file: output },
    },
  );
}

function parse(text: string): SinkOwner | undefined {
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
