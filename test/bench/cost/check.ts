export interface CountRow {
  readonly word: string;
  readonly windowStart: number;
  readonly count: number;
}

/**
 * @param counts by `<start of the window> <word>`
 * @throws Error unless the rows are these counts, each once
 */
export function checkCounts(name: string, rows: readonly CountRow[], counts: ReadonlyMap<string, number>): void {
  const missing = new Map(counts);
  for (const { word, windowStart, count } of rows) {
    const key = `${windowStart} ${word}`;
    if (missing.get(key) !== count)
      throw new Error(`${name}: ${key} has ${count}, but should have ${missing.get(key)}`);
    missing.delete(key);
  }
  if (missing.size > 0) throw new Error(`${name}: ${missing.size} of ${counts.size} results are missing`);
}
