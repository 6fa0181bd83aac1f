/**
 * A decision's units are one row, the pack, however many they are: so a decision is a transaction of three actions, and its cost hardly depends on the
 * number of tasks. A unit that is committed or abandoned gets a row of its own, which stands before what the pack says of it.
 */
import { isUnitKey } from "../items/layout.ts";

const mark = "#UNIT";
const packKey = /^EPOCH#\d+#\d+#UNIT$/;

export type Pack = Readonly<Record<string, unknown>>;

/** The key of the pack that a unit is in, or that the units of a prefix are in; undefined for keys of other items. */
export function packKeyOf(key: string): string | undefined {
  return isUnitKey(key) ? key.slice(0, key.indexOf(`${mark}#`) + mark.length) : undefined;
}

export function isPackKey(key: string): boolean {
  return packKey.test(key);
}
