import { tailBytes } from "../compression/measure.ts";
import { edited } from "../lines/input-errors.ts";
import { endsLine } from "../lines/lines.ts";
import type { OpenInput } from "./contents.ts";
import { mayBeInLine, type WantedFile } from "./identity.ts";

/** What lies before its position is among the bytes that have been compared. */
export function isNearTail({ identity, position }: WantedFile): boolean {
  return identity.tail !== undefined && identity.seen - position < tailBytes;
}

/**
 * Positions lie between lines, or where the file once ended. One that does not any more says that the file was edited in place, and its lines would be
 * cut in two. (An edit that leaves the lines where they were is not found, and does no such harm.)
 *
 * @throws LossError `input-edited`
 */
export async function checkUnedited(file: OpenInput, wanted: WantedFile): Promise<void> {
  const { position } = wanted;
  if (position === 0 || mayBeInLine(wanted) || (await endsLine(file, position))) return;
  throw edited(file.path, position);
}
