import { LossError } from "../../errors.ts";
import type { SinkOwner } from "./names.ts";
import type { EpochContext } from "./prepared-files.ts";

export function missing({ pipeline, sink, epoch }: EpochContext, staged: string, final: string): LossError {
  return lost("staged-file-missing", `neither ${staged} nor ${final} is there`, { pipeline, sink, epoch }, staged);
}

export function damaged({ pipeline, sink, epoch }: EpochContext, staged: string): LossError {
  return lost("staged-file-damaged", `${staged} is not as long as it was`, { pipeline, sink, epoch }, staged);
}

export function taken({ pipeline, sink, epoch }: EpochContext, final: string): LossError {
  const wayOut = `If it is not output of this pipeline, move it away, and run \`epochflow resume\`; else ${abandon(sink, epoch)}.`;
  const place = { pipeline, sink, epoch, file: final };
  return new LossError("output-name-taken", `${final} is there already, with other content`, { wayOut, place });
}

function lost(code: string, message: string, context: EpochContextPlace, file: string): LossError {
  const wayOut = `Restore it, or name the output folder of before, and run \`epochflow resume\`; or ${abandon(context.sink, context.epoch)}.`;
  return new LossError(code, `the rows of epoch ${context.epoch} are lost: ${message}`, {
    wayOut,
    place: { ...context, file },
  });
}

type EpochContextPlace = Omit<EpochContext, "uid">;

function abandon(sink: string, epoch: number): string {
  return `give up its rows with \`epochflow abandon --sink ${sink} --epoch ${epoch}\``;
}

export function manifestDiffers(path: string, { sink }: SinkOwner, epoch: number): LossError {
  return new LossError("manifest-differs", `${path} is there already, and names other files than epoch ${epoch} has`, {
    wayOut: "Restore it from a backup, or delete it if it was put there by hand.",
    place: { epoch, sink, file: path },
  });
}
