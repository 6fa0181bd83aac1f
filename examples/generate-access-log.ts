/**
 * A generator of realistic access logs in the combined log format, the same for the same options on every machine:
 *
 *     node examples/generate-access-log.ts --lines 1000000 --seed 7 --out access.log
 *
 * People come by day and on weekdays, crawlers and a monitor at all hours, scanners try what is not there, and now and then
 * the site is down for some minutes. As in a real server, a line holds the time at which its request began and is written when
 * the request ends: so lines are out of order, by at most `MOST_SECONDS_A_REQUEST`.
 */
import { pathToFileURL } from "node:url";
import { generatorCommand } from "./support/generator-command.ts";
import { type SeededRandom, seededRandom } from "./support/seeded-random.ts";
import * as site from "./support/web-site.ts";

export interface AccessLogOptions {
  readonly lines: number;
  readonly seed: number;
  /** Days over which the lines spread, about. */
  readonly days: number;
}
export const defaults: AccessLogOptions = { lines: 200_000, seed: 1, days: 7 };

/** Monday, 5 January 2026, 00:00 UTC: where every log begins, in seconds. */
const START = Date.UTC(2026, 0, 5) / 1000;
const DAY = 86_400;
const MOST_SECONDS_A_REQUEST = 55;
/** Longer than any visit and its last request take. */
const HORIZON = 1024;
/** Measured; it only makes `days` about right. */
const LINES_A_VISIT = 8.3;

/** The lines of a log, without their newlines. Takes little memory however many they are. */
export function* generateLines(options: AccessLogOptions): Generator<string> {
  const random = seededRandom(options.seed);
  const visitsPerSecond = options.lines / (options.days * DAY) / LINES_A_VISIT;
  /** A minute, or as many as keep its lines to a twentieth of all. */
  const monitorSeconds = 60 * Math.ceil(Math.max(1, (options.days * 1440) / (options.lines / 20)));
  /** A ring of seconds: the lines to be written in each. */
  const pending: string[][] = Array.from({ length: HORIZON }, () => []);
  let outage = { from: 0, to: 0 };
  let written = 0;

  for (let second = START; written < options.lines; second++) {
    if ((second - START) % DAY === 0) outage = drawOutage(random, second);
    const write: Write = (began, took, line) => pending[(began + took) % HORIZON]!.push(line);
    const log = new VisitLog(random, write, outage);
    if (second % monitorSeconds === 0)
      log.request(second, "192.0.2.10", "GET", { path: "/healthz", bytes: 2 }, "-", site.monitor);
    for (let visits = random.poisson(visitsPerSecond * crowd(second)); visits > 0; visits--) visit(random, log, second);

    const due = pending[second % HORIZON]!;
    for (const line of due) if (written++ < options.lines) yield line;
    due.length = 0;
  }
}

/** How many times the average of visitors there are: most in the afternoon, few at night, fewer at the weekend. */
function crowd(second: number): number {
  const hour = (second % DAY) / 3600;
  const weekend = Math.floor((second - START) / DAY) % 7 >= 5;
  return (1 + 0.75 * Math.cos(((hour - 15) / 12) * Math.PI)) * (weekend ? 0.65 : 1.14);
}

/** On two days of five the site fails for some minutes. */
function drawOutage(random: SeededRandom, day: number): { from: number; to: number } {
  const from = day + random.between(0, DAY - 1);
  return random.chance(0.4) ? { from, to: from + random.between(4, 15) * 60 } : { from: 0, to: 0 };
}

function visit(random: SeededRandom, log: VisitLog, second: number): void {
  const kind = random.pick([browse, crawl, readFeed, scan], [70, 12, 12, 6]);
  kind(random, log, second, site.address(random));
}

/** Somebody reads some pages; the browser loads what belongs to them, or asks whether it has changed. */
function browse(random: SeededRandom, log: VisitLog, second: number, address: string): void {
  const agent = random.pick(site.browsers);
  const cached = random.chance(0.35);
  let from = random.pick(site.referrers, site.referrerWeights);
  for (let left = random.between(1, 4), at = second; left > 0; left--, at += random.between(4, 90)) {
    const page = random.pick(site.pages, site.pageWeights);
    log.request(at, address, "GET", page, from, agent);
    from = site.host + page.path;
    for (const asset of page.assets)
      if (random.chance(0.6))
        log.request(at + random.between(0, 2), address, "GET", asset, from, agent, cached ? 304 : 200);
    if (random.chance(0.05))
      log.request(at, address, "GET", { path: random.pick(site.deadLinks), bytes: site.goneBytes }, from, agent, 404);
    if (random.chance(0.03))
      log.request(at + 3, address, "GET", random.pick(site.downloads), from, agent, random.pick([200, 206]));
    if (page.path === "/contact/")
      log.request(at + 40, address, "POST", { path: "/contact/", bytes: 0 }, from, agent, 302);
  }
}

function crawl(random: SeededRandom, log: VisitLog, second: number, address: string): void {
  const agent = random.pick(site.crawlers);
  log.request(second, address, "GET", site.robots, "-", agent);
  for (let left = random.between(2, 12), at = second + 1; left > 0; left--, at += random.between(1, 20)) {
    const page = random.pick(site.pages);
    // Crawlers keep old links, without the last slash.
    if (random.chance(0.15))
      log.request(
        at,
        address,
        "GET",
        { path: page.path.replace(/\/$/, "") || "/index.html", bytes: 169 },
        "-",
        agent,
        301,
      );
    else log.request(at, address, random.chance(0.1) ? "HEAD" : "GET", page, "-", agent);
  }
}

function readFeed(random: SeededRandom, log: VisitLog, second: number, address: string): void {
  log.request(second, address, "GET", site.feed, "-", random.pick(site.feedReaders), random.chance(0.8) ? 304 : 200);
}

function scan(random: SeededRandom, log: VisitLog, second: number, address: string): void {
  const agent = random.pick(site.scanners);
  for (let left = random.between(2, 8); left > 0; left--) {
    const path = random.pick(site.probes);
    const forbidden = path.startsWith("/.");
    log.request(
      second + random.between(0, 5),
      address,
      "GET",
      { path, bytes: forbidden ? 199 : site.goneBytes },
      "-",
      agent,
      forbidden ? 403 : 404,
    );
  }
}

type Write = (began: number, took: number, line: string) => void;

/** Turns requests into lines, each to be written when its request ends. */
class VisitLog {
  readonly #random: SeededRandom;
  readonly #write: Write;
  readonly #outage: { from: number; to: number };

  constructor(random: SeededRandom, write: Write, outage: { from: number; to: number }) {
    this.#random = random;
    this.#write = write;
    this.#outage = outage;
  }

  request(
    second: number,
    address: string,
    method: string,
    resource: site.Resource,
    from: string,
    agent: string,
    wanted = 200,
  ): void {
    const fails = second >= this.#outage.from && second < this.#outage.to && this.#random.chance(0.7);
    const status = fails ? this.#random.pick([503, 500, 504]) : wanted;
    const bytes = fails ? 573 : this.#bytes(method, resource, status);
    const line = `${address} - - [${time(second)}] "${method} ${resource.path} HTTP/1.1" ${status} ${bytes || "-"} "${from}" "${agent}"`;
    this.#write(second, this.#duration(status, bytes), line);
  }

  #bytes(method: string, resource: site.Resource, status: number): number {
    if (method === "HEAD" || status === 304) return 0;
    return status === 206 ? this.#random.between(65_536, resource.bytes) : resource.bytes;
  }

  /** Whole seconds. Most requests take none; big ones and failing ones some. */
  #duration(status: number, bytes: number): number {
    if (status === 504) return 30;
    if (bytes > 1_000_000) return this.#random.between(2, MOST_SECONDS_A_REQUEST);
    return this.#random.chance(0.03) ? this.#random.between(1, 8) : 0;
  }
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** As web servers write it: `05/Jan/2026:13:05:59 +0000`. */
function time(second: number): string {
  const [date, clock] = new Date(second * 1000).toISOString().split(/[T.]/);
  const [year, month, day] = date!.split("-");
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${clock} +0000`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await generatorCommand({
    file: "examples/generate-access-log.ts",
    about: "Writes an access log in the combined log format. The same options give the same bytes.",
    options: {
      lines: { help: "how many lines", value: defaults.lines },
      seed: { help: "another seed, another log", value: defaults.seed },
      days: { help: "the days over which they spread, about", value: defaults.days },
    },
    lines: generateLines,
  });
}
