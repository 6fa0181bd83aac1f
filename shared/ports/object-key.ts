import { LossError } from "../errors.ts";

const part = /^(?!\.{1,2}$)[A-Za-z0-9._%=-]+$/;
const lastPartOfPrefix = /^[A-Za-z0-9._%=-]*$/;

export const isObjectKeyPart = (text: string): boolean => part.test(text);

/** The rule of `ObjectStore`'s keys, so that none leads out of the store. @throws LossError `object-key` */
export function checkObjectKey(key: string): void {
  if (!key.split("/").every(isObjectKeyPart)) throw badKey("key", key);
}

/** The same for what keys begin with. */
export function checkObjectPrefix(prefix: string): void {
  const folders = prefix.split("/");
  const last = folders.pop() ?? "";
  if (!folders.every(isObjectKeyPart) || !lastPartOfPrefix.test(last)) throw badKey("prefix", prefix);
}

function badKey(what: string, text: string): LossError {
  return new LossError("object-key", `${JSON.stringify(text.slice(0, 200))} is no ${what} of an object store`, {
    wayOut: "Keys come from the ledger: was it edited? Restore the whole state from a backup.",
  });
}

/** The answer of every store to a second `put` of a key (I2: nothing is overwritten). */
export function objectExists(key: string, where: string): LossError {
  return new LossError("object-exists", `The object ${key} in ${where} exists already, and is never overwritten`, {
    wayOut:
      "Names are made once. Was the store copied back while the ledger was not? Restore both from the same backup.",
  });
}
