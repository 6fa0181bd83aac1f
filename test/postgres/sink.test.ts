import assert from "node:assert/strict";
import { secret } from "epochflow";
import { type SinkUnderTest, sinkConformance } from "epochflow/testing";
import { PostgresSink, type Settings } from "../../examples/postgres/sink.ts";
import { aPostgresServer, needing } from "../support/needing.ts";
import { PostgresServer } from "../support/postgres/server.ts";

interface Row {
  readonly number: number;
  readonly word: string;
}

const { before, after, suite, test } = await needing(aPostgresServer);
let server: PostgresServer;
before(async () => {
  server = await PostgresServer.start();
});
after(() => server[Symbol.asyncDispose]());

let databases = 0;
async function freshDatabase(create: string): Promise<string> {
  const name = `test_${databases++}`;
  await server.database(name);
  await query(name, create);
  return name;
}

async function query<T = Record<string, unknown>>(database: string, text: string): Promise<T[]> {
  const client = await server.client(database);
  const { rows } = await client.query(text).finally(() => client.end());
  return rows;
}

const settingsFor = (database: string, others: Partial<Settings> = {}): Settings => ({
  connection: { ...server.connection(database), password: secret(server.password) },
  ...{ table: "numbers", columns: ["number", "word"], upsert: [], timeoutMs: 10_000 },
  ...others,
});

async function target(settings: Partial<Settings>, create: string): Promise<SinkUnderTest<Row>> {
  const database = await freshDatabase(create);
  const sinks: PostgresSink<Row>[] = [];
  return {
    open() {
      const sink = new PostgresSink<Row>(settingsFor(database, settings));
      sinks.push(sink);
      return sink;
    },
    read: () => query(database, "SELECT number, word FROM numbers"),
    row: (number) => ({ number, word: `number ${number}` }),
    badRow: { number: 0.5, word: "half" },
    ...(settings.upsert && { replaces: true as const }),
    exclusive: true,
    close: async () => void (await Promise.all(sinks.map((sink) => sink.close()))),
  };
}

const plain =
  "CREATE TABLE numbers (number int NOT NULL, word text NOT NULL, at timestamptz DEFAULT now(), position int)";
const keyed = "CREATE TABLE numbers (number int PRIMARY KEY, word text NOT NULL)";

suite("PostgreSQL", () => {
  sinkConformance("PostgreSQL, rows added", () => target({}, plain));
  sinkConformance("PostgreSQL, rows replaced", () => target({ upsert: ["number"] }, keyed));
});

const owner = { pipeline: "shop", uid: "ledger1", sink: "numbers" };
let nonces = 0;
const context = (epoch: number, attempt = 1, task = 0) => ({
  ...owner,
  epoch,
  attempt,
  stage: 0,
  task,
  nonce: `n${nonces++}`,
});

/** What the protocol does with rows of an epoch; its commit, in pieces. */
async function prepared(
  sink: PostgresSink<unknown>,
  epoch: number,
  previous: number | null,
  tasks: readonly (readonly unknown[])[],
) {
  await sink.open(owner);
  const handles = [];
  for (const [task, rows] of tasks.entries()) {
    const transaction = await sink.begin(context(epoch, 1, task));
    transaction.write(rows as never);
    handles.push({ stage: 0, task, handle: (await sink.preCommit(transaction))! });
  }
  const [unit] = sink.units(handles, { epoch, token: `token${epoch}`, previous: () => previous });
  const ledger = {
    unit: async () => ({ status: "prepared" as const, unit: null }),
    decidedAt: async () => 0,
    committed: async () => epoch - 1,
    recover: async () => {},
  };
  return { ...owner, epoch, ...unit!, ledger };
}

test("what types there are go through, and others are refused before anything is decided", async () => {
  const columns = {
    ...{ small: "smallint", whole: "int", large: "bigint", real: "double precision", exact: "numeric(30,4)" },
    ...{ word: "varchar(5)", flag: "boolean", at: "timestamptz", day: "date", document: "jsonb", raw: "bytea" },
  };
  const definition = Object.entries(columns).map(([name, type]) => `"${name}" ${type}`);
  const database = await freshDatabase(`CREATE TABLE numbers (${definition})`);
  const sink = new PostgresSink<unknown>(settingsFor(database, { columns: Object.keys(columns) }));
  const row = {
    ...{
      small: -32768,
      whole: 2 ** 31 - 1,
      large: 2n ** 63n - 1n,
      real: Number.NaN,
      exact: "12345678901234567890.1234",
    },
    ...{
      word: "né'\"",
      flag: false,
      at: new Date(1),
      day: "2026-01-05",
      document: { a: [null, "x"] },
      raw: Uint8Array.of(0, 255),
    },
  };
  await sink.commit(await prepared(sink, 1, null, [[row, {}]]));
  const [first, second] = await query(database, "SELECT *, day::text FROM numbers");
  assert.deepEqual(first, {
    ...{
      small: -32768,
      whole: 2 ** 31 - 1,
      large: String(2n ** 63n - 1n),
      real: Number.NaN,
      exact: "12345678901234567890.1234",
    },
    ...{
      word: "né'\"",
      flag: false,
      at: new Date(1),
      day: "2026-01-05",
      document: { a: [null, "x"] },
      raw: Buffer.of(0, 255),
    },
  });
  assert.ok(Object.values(second!).every((value) => value === null));

  const bad: [object, RegExp][] = [
    [{ small: 40_000 }, /column small is of type int2: it takes a whole number of 16 bits/],
    [{ large: 2n ** 63n }, /column large/],
    [{ whole: "1" }, /column whole/],
    [{ word: "a\0b" }, /zero character/],
    [{ word: "\ud800" }, /surrogate/],
    [{ flag: 1 }, /takes a boolean/],
    [{ at: "yesterday" }, /takes a Date/],
    [{ document: { a: "\0" } }, /cannot say it/],
    [{ raw: "text" }, /takes bytes/],
    [5 as never, /no object/],
  ];
  for (const [value, message] of bad) {
    const transaction = await sink.begin(context(2));
    assert.throws(() => transaction.write([value]), { kind: "user", code: "postgres-row", message });
  }
  for (const value of [{ word: "longer" }, { exact: 1e99 }]) {
    const transaction = await sink.begin(context(2));
    transaction.write([value]);
    await assert.rejects(sink.preCommit(transaction), (error: Error & { kind: string }) => {
      assert.equal(error.kind, "user");
      assert.doesNotMatch(error.message, /longer|1e99/, "no value of a row");
      return true;
    });
  }
  await sink.close();
});

test("a constraint on rows is looked at before the decision; one on the table stops the commit, until the table is mended", async () => {
  const database = await freshDatabase("CREATE TABLE numbers (number int UNIQUE CHECK (number > 0), word text)");
  const sink = new PostgresSink<unknown>(settingsFor(database));
  await assert.rejects(prepared(sink, 1, null, [[{ number: 1 }, { number: -1 }]]), {
    kind: "user",
    code: "postgres-check",
    message: /numbers_number_check/,
  });
  const unit = await prepared(sink, 1, null, [[{ number: 7 }, { number: 8 }]]);
  await query(database, "INSERT INTO numbers VALUES (7, 'mine')");
  await assert.rejects(sink.commit(unit), {
    kind: "loss",
    code: "postgres-table-refuses",
    message: /numbers_number_key \(SQLSTATE 23505\)/,
    wayOut: /epochflow resume.*epochflow abandon --sink numbers --epoch 1/,
  });
  await query(database, "DELETE FROM numbers");
  await sink.commit(unit);
  assert.equal((await query(database, "SELECT * FROM numbers")).length, 2);
  await sink.close();
});

test("an epoch of several tasks is there at once, and of rows with one key the last counts", async () => {
  const database = await freshDatabase(
    "CREATE TABLE numbers (number int, word text, stage text, PRIMARY KEY (number, stage))",
  );
  const settings = { columns: ["number", "stage", "word"], upsert: ["stage", "number"] };
  const sink = new PostgresSink<unknown>(settingsFor(database, settings));
  const row = (number: number, word: string) => ({ number, word, stage: "s" });
  const tasks = [[row(1, "a"), row(1, "b")], [row(2, "a")], [row(1, "c"), row(3, "a")]];
  const unit = await prepared(sink, 1, null, tasks);
  assert.deepEqual(await query(database, "SELECT * FROM numbers"), []);
  await sink.commit(unit);
  const read = () => query(database, "SELECT number, word FROM numbers ORDER BY number");
  assert.deepEqual(await read(), [
    { number: 1, word: "c" },
    { number: 2, word: "a" },
    { number: 3, word: "a" },
  ]);
  await sink.commit(await prepared(sink, 4, 1, [[row(2, "z")]]));
  assert.deepEqual((await read())[1], { number: 2, word: "z" });
  assert.deepEqual(await query(database, "SELECT * FROM epochflow.staged"), []);
  await sink.close();
});

test("a table that does not fit is refused, with what to do", async () => {
  const database = await freshDatabase(
    "CREATE TABLE numbers (number int, more int NOT NULL, twice int GENERATED ALWAYS AS (number * 2) STORED)",
  );
  const refused = async (settings: Partial<Settings>, expected: object) => {
    const sink = new PostgresSink(settingsFor(database, settings));
    await assert.rejects(sink.open(owner), expected);
    await sink.close();
  };
  await refused(
    { table: "shop.nowhere" },
    { kind: "infrastructure", code: "postgres-table-missing", wayOut: /Create it/ },
  );
  await refused(
    { columns: ["number", "word"] },
    { kind: "usage", code: "postgres-columns", message: /no column word.*column more takes no null/ },
  );
  await refused(
    { columns: ["more", "twice"] },
    { code: "postgres-columns", message: /no column twice that can be written/ },
  );
  await refused(
    { columns: ["number", "more"], upsert: ["number"] },
    { kind: "usage", code: "postgres-upsert", wayOut: /CREATE UNIQUE INDEX/ },
  );
  await refused(
    { connection: { ...server.connection(database), password: secret("hidden") } },
    (error: Error & { kind: string }) => {
      assert.equal(error.kind, "infrastructure");
      assert.match(`${error.message}`, /password authentication failed/);
      assert.doesNotMatch(`${error.message}`, /hidden/);
      return true;
    },
  );
  await refused({ connection: server.connection("nowhere") }, { kind: "infrastructure" });
});

test("ledger and table that do not know of the same epochs stop the commit (I8)", async () => {
  const database = await freshDatabase(plain);
  const sink = new PostgresSink<unknown>(settingsFor(database));
  const rows = [[{ number: 1, word: "a" }]];
  const first = await prepared(sink, 3, null, rows);
  await sink.commit(first);
  const refuses = async (unit: Awaited<ReturnType<typeof prepared>>, code: string) =>
    assert.rejects(sink.commit(unit), { kind: "loss", code });
  await refuses({ ...first, unit: { ...first.unit, token: "other" } }, "postgres-other-epoch");
  await refuses(await prepared(sink, 2, null, rows), "postgres-old-ledger");
  const later = await prepared(sink, 6, 5, rows);
  await refuses(later, "postgres-old-table");
  await refuses(
    { ...later, unit: { ...later.unit, parts: [{ ...later.unit.parts[0]!, sink: "other" }] } },
    "handle-invalid",
  );
  const ledger = {
    ...later.ledger,
    unit: async () => ({ status: "abandoned" as const, unit: { token: "t", previous: 3 } }),
  };
  await query(database, "DELETE FROM epochflow.staged");
  await refuses({ ...later, ledger } as never, "postgres-staged-missing");
  assert.equal((await query(database, "SELECT * FROM numbers")).length, 1);
  await sink.close();
});

test("what is given up never appears; what was there before is told", async () => {
  const database = await freshDatabase(plain);
  const sink = new PostgresSink<unknown>(settingsFor(database));
  const first = await prepared(sink, 1, null, [[{ number: 1, word: "a" }]]);
  assert.equal(await sink.abandon(first), "lost");
  await sink.commit(first);
  assert.equal(await sink.abandon(first), "lost");
  const second = await prepared(sink, 2, 1, [[{ number: 2, word: "b" }]]);
  await sink.commit(second);
  assert.deepEqual([await sink.abandon(second), await sink.abandon(first)], ["committed", "unknown"]);
  assert.deepEqual(await query(database, "SELECT number FROM numbers"), [{ number: 2 }]);
  await sink.close();
});

test("rows that are published are there at once, as often as they are published; what the table refuses is the user's error", async () => {
  const database = await freshDatabase("CREATE TABLE numbers (number int, word text UNIQUE)");
  const sink = new PostgresSink<unknown>(settingsFor(database));
  await sink.open(owner);
  const publish = async (rows: readonly unknown[]) => {
    const transaction = await sink.begin({ ...context(1), direct: true });
    transaction.write(rows);
    await sink.publish(transaction);
  };
  await publish([{ number: 1 }, { number: 2, word: "a" }]);
  await publish([]);
  await publish([{ number: 1 }]);
  await assert.rejects(publish([{ number: 3, word: "a" }]), { kind: "user", code: "postgres-row" });
  const rows = await query(database, "SELECT number FROM numbers ORDER BY number");
  assert.deepEqual(rows, [{ number: 1 }, { number: 1 }, { number: 2 }]);
  await sink.close();
});

test("a committer that stands still with the lock in its hands is ended by the server, and another one commits", async () => {
  const database = await freshDatabase(plain);
  const sink = new PostgresSink<unknown>(settingsFor(database, { timeoutMs: 1500 }));
  const unit = await prepared(sink, 1, null, [[{ number: 1, word: "a" }]]);
  const still = await server.client(database);
  await still.query("SET idle_in_transaction_session_timeout = 500; BEGIN; SELECT * FROM epochflow.tables FOR UPDATE");
  await sink.commit(unit);
  await assert.rejects(still.query("COMMIT"));
  await still.end().catch(() => {});
  assert.equal((await query(database, "SELECT * FROM numbers")).length, 1);
  await sink.close();
});

test("a server that fails is waited for: what was staged is there when it is back", async () => {
  const database = await freshDatabase(plain);
  const sink = new PostgresSink<unknown>(settingsFor(database));
  const unit = await prepared(sink, 1, null, [[{ number: 1, word: "a" }]]);
  await server.kill();
  await assert.rejects(sink.commit(unit), { kind: "infrastructure" });
  await server.resume();
  await sink.commit(unit);
  assert.equal((await query(database, "SELECT * FROM numbers")).length, 1);
  await sink.close();
});
