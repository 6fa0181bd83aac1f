import { LossError, UsageError } from "../../errors.ts";
import type { EpochContext } from "./prepared-file.ts";

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

/** A matter of how disks are mounted, which nothing here can mend. */
export function twoFileSystems(root: string, below: string): UsageError {
  return new UsageError("output-on-two-file-systems", `${below} is on another file system than ${root}`, {
    wayOut: `Unmount what is mounted at or below ${root}, or choose another output folder: files are published by renaming.`,
    place: { file: below },
  });
}
