import { randomInt } from "node:crypto";
import type { Random } from "../../ports/random.ts";

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** The machine's chance: 20 letters and digits, 103 bits. */
export const systemRandom: Random = {
  nonce: () => Array.from({ length: 20 }, () => letters[randomInt(letters.length)]).join(""),
};
