/**
 * A row as JSON text. JSON has no bigints, and keys may be some: they become text, as 64-bit integers do in protobuf's mapping to JSON. This is tried second,
 * since a replacer makes every row slow. Undefined for what JSON cannot say at all, such as a function.
 *
 * @throws TypeError for a value that contains itself; whatever a `toJSON` throws
 */
export function toJsonText(row: unknown): string | undefined {
  try {
    return JSON.stringify(row);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(row, (_, value) => (typeof value === "bigint" ? String(value) : value));
  }
}
