/** The most bytes that a number takes as JSON: `-1.2345678901234567e-300`. */
export const mostNumberBytes = 25;

/** Halves of a whole number below this are exact, and integers of the processor. */
const mostDigits = 1e15;
const half = 1e8;

/** Writes a number as `JSON.stringify` gives it, where there is room for it; returns the place after it. */
export function writeNumber(bytes: Buffer, at: number, number: number): number {
  if (Math.floor(number) !== number || number >= mostDigits || number <= -mostDigits)
    return writeOther(bytes, at, number);
  let end = at;
  let rest = number;
  if (number < 0) {
    bytes[end++] = 0x2d;
    rest = -number;
  }
  if (rest < half) return writeDigits(bytes, end, rest | 0, digitsOf(rest | 0));
  const high = Math.floor(rest / half);
  end = writeDigits(bytes, end, high, digitsOf(high));
  return writeDigits(bytes, end, rest - high * half, 8);
}

/** How many digits a number has that is nothing but digits, and few of them: `writeDigits` writes it. 0: it is another one. */
export function fewDigitsOf(number: number): number {
  return number >= 0 && number < half && Math.floor(number) === number ? digitsOf(number | 0) : 0;
}

function digitsOf(number: number): number {
  if (number < 10) return 1;
  if (number < 100) return 2;
  if (number < 1000) return 3;
  if (number < 10_000) return 4;
  if (number < 100_000) return 5;
  if (number < 1_000_000) return 6;
  return number < 10_000_000 ? 7 : 8;
}

/** The last `count` digits of a number below 10^8. */
export function writeDigits(bytes: Buffer, at: number, number: number, count: number): number {
  let rest = number | 0;
  for (let place = at + count - 1; place >= at; place--) {
    const tenth = (rest / 10) | 0;
    bytes[place] = 0x30 + rest - tenth * 10;
    rest = tenth;
  }
  return at + count;
}

function writeOther(bytes: Buffer, at: number, number: number): number {
  return at + bytes.write(Number.isFinite(number) ? String(number) : "null", at, "latin1");
}
