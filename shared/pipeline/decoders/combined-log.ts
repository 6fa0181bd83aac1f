import type { Decoder } from "../topology.ts";
import { decodeText } from "./text.ts";
import { undecodable } from "./undecodable.ts";

/** A line of an access log. Texts are as the server wrote them, escapes included; "-" is what it writes for nothing. */
export interface CombinedLogEntry {
  readonly host: string;
  readonly identity: string;
  readonly user: string;
  /** When the request came, epoch milliseconds. */
  readonly time: number;
  readonly method: string;
  readonly path: string;
  readonly protocol: string;
  /** The request line as a whole. Unless it is one of HTTP, `method`, `path` and `protocol` are "-". */
  readonly request: string;
  readonly status: string;
  /** Size of the response's body; "-" is 0. */
  readonly bytes: number;
  readonly referrer: string;
  readonly agent: string;
}

/**
 * Apache's combined log format, which nginx writes too:
 *
 *     host identity user [day/month/year:hour:minute:second zone] "request" status bytes "referrer" "agent"
 *
 * A line may be cut off inside its agent, and fields may follow it. Quotes inside of fields are escaped by a backslash.
 * https://httpd.apache.org/docs/2.4/mod/mod_log_config.html#examples
 */
export function combinedLog(): Decoder<CombinedLogEntry> {
  const timeOf = timeReader();
  return { name: "combinedLog", decode: (bytes, start, end) => readLine(decodeText(bytes, start, end), timeOf) };
}

/** Length of `17/May/2015:10:05:03 +0000`. */
const timeLength = 26;

/** Looks for the separators one after the other: three times as fast as a regular expression. */
function readLine(line: string, timeOf: (text: string) => number): CombinedLogEntry {
  const hostEnd = find(line, " ", 0, "host");
  const identityEnd = find(line, " ", hostEnd + 1, "identity");
  const userEnd = find(line, " [", identityEnd + 1, "user");
  const timeStart = userEnd + 2;
  const timeEnd = timeStart + timeLength;
  if (!line.startsWith('] "', timeEnd)) throw malformed("time");
  const requestStart = timeEnd + 3;
  const requestEnd = findQuote(line, requestStart, "request");
  const statusStart = requestEnd + 2;
  const statusEnd = find(line, " ", statusStart, "status");
  const bytesEnd = find(line, ' "', statusEnd + 1, "bytes");
  const referrerStart = bytesEnd + 2;
  const referrerEnd = findQuote(line, referrerStart, "referrer");
  if (!line.startsWith(' "', referrerEnd + 1)) throw malformed("agent");
  const agentStart = referrerEnd + 3;
  const agentEnd = closingQuote(line, agentStart);

  const request = line.slice(requestStart, requestEnd);
  const methodEnd = request.indexOf(" ");
  const pathEnd = request.lastIndexOf(" ");
  const isHttp = methodEnd > 0 && pathEnd > methodEnd;
  return {
    host: line.slice(0, hostEnd),
    identity: line.slice(hostEnd + 1, identityEnd),
    user: line.slice(identityEnd + 1, userEnd),
    time: timeOf(line.slice(timeStart, timeEnd)),
    method: isHttp ? request.slice(0, methodEnd) : "-",
    path: isHttp ? request.slice(methodEnd + 1, pathEnd) : "-",
    protocol: isHttp ? request.slice(pathEnd + 1) : "-",
    request,
    status: line.slice(statusStart, statusEnd),
    bytes: readSize(line, statusEnd + 1, bytesEnd),
    referrer: line.slice(referrerStart, referrerEnd),
    agent: agentEnd < 0 ? line.slice(agentStart) : line.slice(agentStart, agentEnd),
  };
}

function find(line: string, separator: string, from: number, field: string): number {
  const at = line.indexOf(separator, from);
  if (at < 0) throw malformed(field);
  return at;
}

function findQuote(line: string, from: number, field: string): number {
  const at = closingQuote(line, from);
  if (at < 0) throw malformed(field);
  return at;
}

/** The next quote that no odd number of backslashes stands before; -1 if there is none. */
function closingQuote(line: string, from: number): number {
  let at = line.indexOf('"', from);
  while (at >= 0) {
    let backslashes = 0;
    while (at - backslashes > from && line.charCodeAt(at - backslashes - 1) === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at;
    at = line.indexOf('"', at + 1);
  }
  return -1;
}

const backslash = 0x5c;
const zero = 0x30;

function readSize(line: string, start: number, end: number): number {
  if (end === start + 1 && line[start] === "-") return 0;
  return readDigits(line, start, end, "bytes");
}

function readDigits(text: string, start: number, end: number, field: string): number {
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - zero;
    if (!(digit >= 0 && digit <= 9)) throw malformed(field);
    value = value * 10 + digit;
  }
  if (start >= end) throw malformed(field);
  return value;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Reads `17/May/2015:10:05:03 +0000`. Lines of the same day stand together: it remembers the last one's. */
function timeReader(): (text: string) => number {
  let lastDay = "";
  let lastDayMs = 0;
  return (text) => {
    const day = text.slice(0, 11);
    if (day !== lastDay) {
      lastDayMs = readDay(day);
      lastDay = day;
    }
    if (text[11] !== ":" || text[14] !== ":" || text[17] !== ":" || text[20] !== " ") throw malformed("time");
    const hour = readPart(text, 12, 23);
    const minute = readPart(text, 15, 59);
    // 60 is a leap second.
    const second = readPart(text, 18, 60);
    const zone = readPart(text, 22, 23) * 60 + readPart(text, 24, 59);
    const sign = text[21] === "+" ? 1 : text[21] === "-" ? -1 : Number.NaN;
    if (Number.isNaN(sign)) throw malformed("time");
    return lastDayMs + (hour * 60 + minute - sign * zone) * 60_000 + second * 1_000;
  };
}

function readPart(text: string, start: number, most: number): number {
  const value = readDigits(text, start, start + 2, "time");
  if (value > most) throw malformed("time");
  return value;
}

/** Start of `17/May/2015`. */
function readDay(text: string): number {
  const day = readDigits(text, 0, 2, "time");
  const month = months.indexOf(text.slice(3, 6));
  const year = readDigits(text, 7, 11, "time");
  const start = new Date(Date.UTC(year, month, day));
  const exists = month >= 0 && start.getUTCMonth() === month && start.getUTCDate() === day;
  if (!exists || text[2] !== "/" || text[6] !== "/") throw malformed("time");
  return start.getTime();
}

function malformed(field: string): Error {
  return undecodable(`is not in the combined log format: something is wrong with its ${field}`);
}
