/** What may happen to an input before it was read to its end, each a loss (I8). `path` is that of a file, or the address of an object. */
import { LossError } from "../../errors.ts";

export function shrank(path: string, size: number, known: number): LossError {
  return new LossError("input-shrank", `${path} shrank: it had ${known} bytes, and now ends at ${size}`, {
    wayOut: wayOut(path),
    place: { file: path, offset: size },
  });
}

export function replaced(path: string, position: number): LossError {
  return new LossError("input-replaced", `${path} was replaced or changed before it was read beyond ${position}`, {
    wayOut: wayOut(path),
    place: { file: path, offset: position },
  });
}

export function edited(path: string, position: number): LossError {
  return new LossError(
    "input-edited",
    `${path} was edited: what lies before position ${position} is not what lay there`,
    {
      wayOut: wayOut(path),
      place: { file: path, offset: position },
    },
  );
}

export function vanished(path: string, position: number): LossError {
  return new LossError("input-vanished", `${path} is gone, and was read only up to ${position}`, {
    wayOut: wayOut(path),
    place: { file: path, offset: position },
  });
}

/** Of compressed bytes. `what` is wrong: "incorrect data check". */
export function damaged(path: string, format: string, what: string): LossError {
  return new LossError("input-damaged", `${path} is damaged: its ${format} stream cannot be decompressed (${what})`, {
    wayOut: `Put a whole copy of it in its place, or move it to where it is not read; then \`epochflow resume\`.`,
    place: { file: path },
  });
}

/** Of compressed bytes, which nobody goes on writing. */
export function incomplete(path: string, format: string): LossError {
  return new LossError("input-incomplete", `${path} is not whole: its ${format} stream ends too early`, {
    wayOut:
      "If it is still being written, wait for it to be whole; if its end is lost, put a whole copy in its place, or move it to where it is not read. Then `epochflow resume`, or run again.",
    place: { file: path },
  });
}

function wayOut(path: string): string {
  return `Put the file that was ${path} back, in its place or beside it; or start anew with \`epochflow reset\`.`;
}
