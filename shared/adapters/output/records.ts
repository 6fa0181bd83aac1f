const lineFeed = 10;
const quote = 34;

/** Where rows end in bytes that begin with a row. */
export type LastEnd = (bytes: Buffer) => number;

/** How to find the rows in a file, by what its name ends in: those of CSV may have line ends in quotes. */
export function endingsOf(extension: string): { lastEnd: LastEnd; split(bytes: Buffer): string[] } {
  const isCsv = extension.split(".")[0] === "csv";
  return isCsv ? { lastEnd: lastUnquotedEnd, split: splitCsv } : { lastEnd, split: splitLines };
}

/** Behind the last line end; 0: there is none. */
function lastEnd(bytes: Buffer): number {
  return bytes.lastIndexOf(lineFeed) + 1;
}

function splitLines(bytes: Buffer): string[] {
  return bytes.toString("utf8").split("\n").slice(0, -1);
}

function lastUnquotedEnd(bytes: Buffer): number {
  return bytes.includes(quote) ? (unquotedEnds(bytes).at(-1) ?? 0) : lastEnd(bytes);
}

function splitCsv(bytes: Buffer): string[] {
  let start = 0;
  return unquotedEnds(bytes).map((end) => {
    const row = bytes.toString("utf8", start, end);
    start = end;
    return row.replace(/\r?\n$/, "");
  });
}

/** Behind an even number of quotes one is outside, whatever the delimiter is: a quote within quotes is doubled. */
function unquotedEnds(bytes: Buffer): number[] {
  const ends: number[] = [];
  let quoted = false;
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] === quote) quoted = !quoted;
    else if (bytes[index] === lineFeed && !quoted) ends.push(index + 1);
  }
  return ends;
}
