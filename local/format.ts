/** How numbers and times are shown to people, by the command and by the page. Pure, and loaded by browsers as it is. */
const numbers = new Intl.NumberFormat("en-US");
const threeDigits = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });

/** `1,234,567`. */
export function formatCount(value: number): string {
  return numbers.format(value);
}

/** `1 record`, `2 records`. */
export function formatCounted(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`;
}

/** Decimal units, three digits: `999 B`, `1.23 MB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = bytes;
  let unit = 0;
  // What would round to 1000 belongs to the next unit.
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${threeDigits.format(value)} ${units[unit]}`;
}

/** A distance between offsets: `1.2 MB`, `1,234 records`. */
export function formatOffsets(distance: number, unit: "bytes" | "records"): string {
  return unit === "bytes" ? formatBytes(distance) : formatCounted(distance, "record");
}

/** `12 ms`, `3.4 s`, `1 min 05 s`, `2 h 05 min`, `3 d 4 h`, `120 d`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
  const hours = Math.round(minutes / 60);
  const days = Math.floor(hours / 24);
  return days < 100 ? `${days} d ${hours % 24} h` : `${days} d`;
}

/** A time in UTC to the second, `2015-05-17 10:05:03Z`; milliseconds themselves outside the range of dates. */
export function formatInstant(ms: number | null): string {
  if (ms === null) return "none yet";
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return `${ms} ms`;
  return `${date.toISOString().replace("T", " ").slice(0, -5)}Z`;
}

/** `0:12`, `1:02:03`: for what changes several times a second. */
export function formatClock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const tail = `${twoDigits(seconds % 60)}`;
  return minutes < 60 ? `${minutes}:${tail}` : `${Math.floor(minutes / 60)}:${twoDigits(minutes % 60)}:${tail}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
