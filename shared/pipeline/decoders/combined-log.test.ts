import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { combinedLog } from "./combined-log.ts";

const decode = (line: string) => {
  const bytes = Buffer.from(line);
  return combinedLog().decode(bytes, 0, bytes.length);
};
const time = "17/May/2015:10:05:03 +0000";
const line = (request: string, size = "5") =>
  `203.0.113.7 - ann [${time}] "${request}" 200 ${size} "http://a.example/" "Agent/1.0 (x; y)"`;
const malformed = (text: string, field: string) =>
  assert.throws(() => decode(text), { code: "undecodable-record", message: new RegExp(`wrong with its ${field}$`) });

test("every field of a line", () => {
  assert.deepEqual(decode(line("GET /a?b=c HTTP/1.1", "203023")), {
    host: "203.0.113.7",
    identity: "-",
    user: "ann",
    time: Date.parse("2015-05-17T10:05:03Z"),
    method: "GET",
    path: "/a?b=c",
    protocol: "HTTP/1.1",
    request: "GET /a?b=c HTTP/1.1",
    status: "200",
    bytes: 203023,
    referrer: "http://a.example/",
    agent: "Agent/1.0 (x; y)",
  });
  assert.equal(decode(line("GET / HTTP/1.1", "-")).bytes, 0);
  assert.equal(decode(line("GET / HTTP/1.1").replace("ann", "Ann Lee")).user, "Ann Lee");
  assert.equal(decode(`${line("GET / HTTP/1.1")} "10.0.0.1" 17`).agent, "Agent/1.0 (x; y)");
});

test("a line that is cut off in its agent counts", () => {
  const whole = line("GET / HTTP/1.1");
  for (let cut = 1; cut <= "Agent/1.0 (x; y)".length + 1; cut += 1) {
    assert.equal(decode(whole.slice(0, -cut)).agent, "Agent/1.0 (x; y)".slice(0, -cut + 1 || undefined));
  }
  for (let length = 0; length < whole.lastIndexOf(' "A') + 2; length += 1) {
    assert.throws(() => decode(whole.slice(0, length)), { code: "undecodable-record" });
  }
});

test("escaped quotes belong to their field", () => {
  const escaped = line(String.raw`GET /\"a\"\\ HTTP/1.1`).replace("Agent/1.0", String.raw`\"Agent\" \\\" 1`);
  const entry = decode(escaped);
  assert.equal(entry.path, String.raw`/\"a\"\\`);
  assert.equal(entry.agent, String.raw`\"Agent\" \\\" 1 (x; y)`);
  assert.equal(entry.referrer, "http://a.example/");
});

test("a request that is not one of HTTP stays whole", () => {
  for (const request of ["-", "", String.raw`\x16\x03\x01`, "quit", "GET /"]) {
    const entry = decode(line(request));
    assert.equal(entry.request, request);
    assert.deepEqual([entry.method, entry.path, entry.protocol], ["-", "-", "-"]);
  }
  assert.equal(decode(line("GET /a b HTTP/1.1")).path, "/a b");
});

test("times of all zones are the same instants that Date reads", () => {
  const decoder = combinedLog();
  const instant = fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true });
  fc.assert(
    fc.property(instant, fc.constantFrom("+", "-"), fc.integer({ min: 0, max: 23 }), (date, sign, hour) => {
      const [, day, month, year, clock] = date.toUTCString().split(" ");
      const zone = `${sign}${String(hour).padStart(2, "0")}30`;
      const bytes = Buffer.from(line("GET / HTTP/1.1").replace(time, `${day}/${month}/${year}:${clock} ${zone}`));
      const expected = Date.parse(`${day} ${month} ${year} ${clock} ${zone}`);
      assert.equal(decoder.decode(bytes, 0, bytes.length).time, expected);
    }),
  );
});

test("what is wrong is named, and not quoted", () => {
  const good = line("GET / HTTP/1.1");
  for (const bad of [
    "30/Feb/2015:10:05:03 +0000",
    "17/Mai/2015:10:05:03 +0000",
    "17/May/2015:24:05:03 +0000",
    "17/May/2015:10:05:61 +0000",
    "17/May/2015:10:05:03 00000",
    "17/May/2015 10:05:03 +0000",
    "17-May-2015:10:05:03 +0000",
    "1x/May/2015:10:05:03 +0000",
    "2015-05-17T10:05:03Z",
  ]) {
    malformed(good.replace(time, bad), "time");
  }
  malformed("", "host");
  malformed(line("GET / HTTP/1.1", "5x"), "bytes");
  malformed(line("GET / HTTP/1.1", ""), "bytes");
  malformed(good.replace('"http://a.example/" ', ""), "agent");
  assert.doesNotThrow(() => decode(good));
});

const sample = new URL("../../../../shared/data/access-log/", import.meta.url);

test("a real log gives the known counts per hour and status", {
  skip: existsSync(sample) ? false : "the sample log is not here",
}, () => {
  const lines = readFileSync(new URL("access.log", sample), "utf8").trimEnd().split("\n");
  const groups = Map.groupBy(lines.map(decode), (entry) => `${entry.time - (entry.time % 3_600_000)} ${entry.status}`);
  const rows = [...groups.values()].map((entries) => ({
    windowStart: entries[0]!.time - (entries[0]!.time % 3_600_000),
    key: entries[0]!.status,
    count: entries.length,
    bytes: entries.reduce((total, entry) => total + entry.bytes, 0),
  }));
  const expected = readFileSync(new URL("expected-status-1h.jsonl", sample), "utf8").trimEnd().split("\n");
  assert.deepEqual(rows.map((row) => JSON.stringify(row)).sort(), expected.sort());
});
