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
    `${path} was edited: position ${position} lay between two lines, and lies within one now`,
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

function wayOut(path: string): string {
  return `Put the file that was ${path} back, in its place or beside it; or start anew with \`epochflow reset\`.`;
}
