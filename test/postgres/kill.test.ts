/**
 * The process is killed again and again, and so is the database. In the end every line is in its table once, and the sums are those of one pass over the input. `EPOCHFLOW_TEST_SEED`
 * gives the same moments again, as far as time allows.
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Started, startCli } from "../support/cli.ts";
import { folderOf } from "../support/folder.ts";
import { killLoop } from "../support/kill-loop.ts";
import { aPostgresServer, needing } from "../support/needing.ts";
import { PostgresServer } from "../support/postgres/server.ts";
import { seededRandom } from "../support/seed.ts";

const { before, after, test } = await needing(aPostgresServer);
const module = join(import.meta.dirname, "pipeline.ts");
const example = join(import.meta.dirname, "../../examples/postgres/word-counts.ts");
const sample = join(import.meta.dirname, "../../examples/data/lines.tsv");
const lines = 40_000;

let server: PostgresServer;
before(async () => {
  server = await PostgresServer.start();
});
after(() => server[Symbol.asyncDispose]());

async function query<T>(database: string, text: string): Promise<T[]> {
  const client = await server.client(database);
  const { rows } = await client.query(text).finally(() => client.end());
  return rows;
}

const tables = `CREATE TABLE numbers (number int NOT NULL, file text NOT NULL, at timestamptz DEFAULT clock_timestamp());
  CREATE TABLE sums (digit int, window_start bigint, count int NOT NULL, sum bigint NOT NULL, PRIMARY KEY (digit, window_start))`;

/** Two files, with every other line each, and neighbours exchanged. */
function writeInput(folder: string): void {
  mkdirSync(folder);
  for (const [file, first] of [
    ["a.txt", 0],
    ["b.txt", 1],
  ] as const) {
    const numbers = Array.from({ length: lines / 2 }, (_, index) => first + 2 * (index ^ 1));
    writeFileSync(join(folder, file), numbers.map((number) => `${number}\n`).join(""));
  }
}

/** By a plain pass. */
function sums() {
  const all = new Map<string, { digit: number; window_start: string; count: number; sum: string }>();
  for (let number = 0; number < lines; number++) {
    const start = Math.floor(number / 100) * 1000;
    const id = `${String(start).padStart(9)} ${number % 10}`;
    const { count, sum } = all.get(id) ?? { count: 0, sum: "0" };
    all.set(id, {
      digit: number % 10,
      window_start: String(start),
      count: count + 1,
      sum: String(Number(sum) + number),
    });
  }
  return [...all].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

interface Place {
  readonly database: string;
  readonly state: string;
  start(): Started;
}

async function placeIn(folder: string, database: string): Promise<Place> {
  await server.database(database);
  await query(database, tables);
  const input = join(folder, "in");
  writeInput(input);
  const state = join(folder, "state");
  const { host, user } = server.connection();
  const parameters = Object.entries({ input, host, user, database });
  const set = parameters.flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const options = ["--epoch-records", "500", "--parallelism", "2", "--patience", "2m"];
  const start = () =>
    startCli(["run", module, ...set, "--state", state, ...options], { env: { PGPASSWORD: server.password } });
  return { database, state, start };
}

test("what is in the tables is exact, however often the process is killed", async (t) => {
  const place = await placeIn(folderOf(t), "kills");
  const random = seededRandom(t);
  const { last, kills } = await killLoop({ ...place, random, kills: 10, epochsALife: 6 });
  assert.equal(last.code, 0, last.stderr);
  t.diagnostic(`killed ${kills} times`);
  await exact(place.database);
});

test("what is in the tables is exact, however often the database is killed", async (t) => {
  const place = await placeIn(folderOf(t), "outages");
  const random = seededRandom(t);
  const { finished } = place.start();
  let isOver = false;
  void finished.then(() => (isOver = true));
  let outages = 0;
  for (; !isOver && outages < 4; outages++) {
    await Promise.race([finished, sleep(300 + random.below(1500))]);
    await server.kill();
    await sleep(random.below(300));
    await server.resume();
  }
  const { code, stderr } = await finished;
  assert.equal(code, 0, stderr);
  assert.ok(outages > 1, `it was over after ${outages} outages: take more input`);
  await exact(place.database);
});

test("the example counts the words of its sample", async (t) => {
  await server.database("words");
  await query(
    "words",
    "CREATE TABLE word_counts (word text, window_start timestamptz, count bigint NOT NULL, PRIMARY KEY (word, window_start))",
  );
  const { host, user, database } = server.connection("words");
  const set = Object.entries({ host, user, database }).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const run = startCli(["run", example, ...set, "--state", folderOf(t)], { env: { PGPASSWORD: server.password } });
  const { code, stderr } = await run.finished;
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, RegExp(server.password));
  const rows = await query(
    "words",
    "SELECT word, (extract(epoch FROM window_start) * 1000)::bigint AS at, count FROM word_counts",
  );
  assert.deepEqual(rows.map((row) => JSON.stringify(row)).sort(), countsOfSample());
});

function countsOfSample(): string[] {
  const counts = new Map<string, number>();
  for (const line of readFileSync(sample, "utf8").trimEnd().split("\n")) {
    const [time, words] = line.split("\t");
    for (const word of words!.split(" ")) {
      const id = JSON.stringify({ word, at: String(Math.floor(Number(time) / 10_000) * 10_000) });
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return [...counts].map(([id, count]) => JSON.stringify({ ...JSON.parse(id), count: String(count) })).sort();
}

async function exact(database: string): Promise<void> {
  const [counted] = await query(
    database,
    "SELECT count(*)::int AS rows, count(DISTINCT number)::int AS numbers, min(number), max(number) FROM numbers",
  );
  assert.deepEqual(counted, { rows: lines, numbers: lines, min: 0, max: lines - 1 });
  assert.deepEqual(await query(database, "SELECT * FROM sums ORDER BY window_start, digit"), sums());
  assert.deepEqual(await query(database, "SELECT DISTINCT epoch FROM epochflow.staged"), [], "nothing is left staged");
}
