import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { defaults, generateLines } from "./generate-access-log.ts";

const combined =
  /^[\da-f.:]+ - - \[(\d\d)\/(\w{3})\/(\d{4}):([\d:]{8}) \+0000\] "(GET|HEAD|POST) \/\S* HTTP\/1\.1" (\d{3}) (\d+|-) "[^"]+" "[^"]+"$/;
const lines = [...generateLines({ ...defaults, lines: 50_000, days: 2 })];

function timeOf(line: string): number {
  const [, day, month, year, clock] = combined.exec(line)!;
  return Date.parse(`${day} ${month} ${year} ${clock} UTC`);
}

test("writes as many lines of the combined log format as are asked for", () => {
  assert.equal(lines.length, 50_000);
  assert.equal(
    lines.find((line) => !combined.test(line)),
    undefined,
  );
});

test("the same seed gives the same lines, another seed others", () => {
  assert.deepEqual([...generateLines({ ...defaults, lines: 2000 })], [...generateLines({ ...defaults, lines: 2000 })]);
  assert.notDeepEqual(
    [...generateLines({ ...defaults, lines: 9, seed: 2 })],
    [...generateLines({ ...defaults, lines: 9 })],
  );
});

test("lines are out of order, by less than a minute", () => {
  let latest = 0;
  let most = 0;
  for (const line of lines) {
    const time = timeOf(line);
    most = Math.max(most, latest - time);
    latest = Math.max(latest, time);
  }
  assert.ok(most > 10_000 && most < 60_000, `${most} ms`);
});

test("looks like a real log: by day more than at night, mostly 200, some of each usual status, - for no bytes", () => {
  const hours = lines.map((line) => new Date(timeOf(line)).getUTCHours());
  const between = (from: number, to: number) => hours.filter((hour) => hour >= from && hour < to).length;
  assert.ok(between(13, 17) > 2 * between(1, 5));
  const statuses = Map.groupBy(lines, (line) => combined.exec(line)![6]!);
  assert.ok(statuses.get("200")!.length > lines.length / 2);
  for (const status of ["206", "301", "302", "304", "403", "404"]) assert.ok(statuses.has(status), status);
  assert.ok(statuses.get("304")!.every((line) => combined.exec(line)![7] === "-"));
});

test("its command explains itself, and says what is wrong with an option", () => {
  const run = (...options: string[]) =>
    spawnSync(process.execPath, ["examples/generate-access-log.ts", ...options], { encoding: "utf8" });
  assert.match(run("--help").stdout, /--lines N .*default 200000/);
  assert.equal(run("--lines", "3").stdout.trimEnd().split("\n").length, 3);
  const wrong = run("--lines", "many");
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /--lines takes a whole number, not "many"/);
});
