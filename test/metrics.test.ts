/** What a run tells Prometheus: every metric that docs/watching.md names, with the right values, in a text that parses. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { describe, it } from "node:test";
import { Registry } from "prom-client";
import { run, runWith } from "../local/run.ts";
import { metricDefinitions } from "../local/watch/metrics/definitions.ts";
import { InfrastructureError } from "../shared/errors.ts";
import { files, pipeline, text } from "../shared/index.ts";
import { folderOf } from "./support/folder.ts";
import { type Around, around } from "./support/ports.ts";
import { parseMetrics, sampleOf } from "./support/prometheus.ts";
import { until } from "./support/until.ts";
import { assertEnded, Place, words } from "./support/words.ts";

const root = join(import.meta.dirname, "..");

async function get(url: string, headers = {}, method = "GET") {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  request(url, { headers, method }, (response) => {
    textOf(response).then((body) => resolve({ status: response.statusCode!, body }), reject);
  })
    .on("error", reject)
    .end();
  return await promise;
}

/** Of what a registry has. */
const familiesOf = async (registry: Registry) => parseMetrics(await registry.metrics());

describe("metrics of a run", { concurrency: true }, () => {
  it("are those that docs/watching.md names", () => {
    const documented = readFileSync(join(root, "docs/watching.md"), "utf8").matchAll(/^\| `(epochflow_\w+)`/gm);
    assert.deepEqual([...documented].map(([, name]) => name).sort(), Object.keys(metricDefinitions).sort());
  });

  it("have the values that the ledger has, over several runs and pipelines in one registry", async (t) => {
    using place = new Place(words(0, 300));
    const registry = new Registry();
    const options = { state: place.state, epochRecords: 100, metrics: { registry } };
    await run(place.module, { ...options, hold: true });
    const first = await familiesOf(registry);
    const words1 = { pipeline: "words" };
    assert.equal(sampleOf(first, "epochflow_records_read_total", words1), 300);
    assert.equal(sampleOf(first, "epochflow_epochs_committed_total", words1), 3);
    place.append(words(300, 400));
    await run(place.module, options);

    process.env.TABLE_PASSWORD = "open sesame";
    const custom = join(root, "test/custom/pipeline.ts");
    const folder = folderOf(t);
    const parameters = { table: join(folder, "table.sqlite"), count: "500" };
    await run(custom, { parameters, state: join(folder, "state"), metrics: { registry }, parallelism: 2 });

    const families = await familiesOf(registry);
    assert.deepEqual(
      Object.keys(metricDefinitions).filter((name) => !families.get(name)?.samples.length),
      [],
      "every metric is emitted",
    );
    assert.equal(sampleOf(families, "epochflow_records_read_total", words1), 400);
    assert.equal(sampleOf(families, "epochflow_rows_written_total", words1), place.expected().length);
    assert.equal(sampleOf(families, "epochflow_epochs_decided_total", words1), 5);
    assert.equal(sampleOf(families, "epochflow_last_epoch", { ...words1, status: "committed" }), 5);
    assert.equal(sampleOf(families, "epochflow_epoch_phase_duration_seconds", { ...words1, phase: "commit" }), 5);
    assert.equal(sampleOf(families, "epochflow_partition_lag_bytes", { ...words1, partition: "words.txt" }), 0);
    assert.equal(sampleOf(families, "epochflow_watermark_seconds", words1), 420);
    assert.equal(sampleOf(families, "epochflow_records_read_total", { pipeline: "sums" }), 1500);
    for (const partition of ["p0", "p1", "p2"])
      assert.equal(sampleOf(families, "epochflow_partition_lag_records", { pipeline: "sums", partition }), 0);
  });

  it("tell of failed commits, aborted attempts and the stop", async () => {
    using place = new Place(words(0, 100));
    let left = 2;
    const fail: Around = (name, call) =>
      name === "sink.commit" && left-- > 0
        ? (Promise.reject(new InfrastructureError("injected", "the disk is away")) as never)
        : call();
    const registry = new Registry();
    const options = { state: place.state, hold: true, patienceMs: 60_000, metrics: { registry } };
    await runWith(place.module, options, { engine: (engine) => around(engine, fail) });
    assert.equal(sampleOf(await familiesOf(registry), "epochflow_commit_failures_total", { sink: "counts" }), 2);
    using broken = new Place(words(0, 100));
    broken.program("[].nothing.at.all");
    const stopped = new Registry();
    const { outcome } = await run(broken.module, { state: broken.state, metrics: { registry: stopped } });
    assert.equal(outcome, "stopped");
    const families = await familiesOf(stopped);
    assert.equal(sampleOf(families, "epochflow_attempts_aborted_total"), 3);
    assert.equal(sampleOf(families, "epochflow_attempts_planned_total"), 3);
    assert.equal(sampleOf(families, "epochflow_stopped"), 1);
    assert.equal(sampleOf(families, "epochflow_failures_in_a_row"), 3);
    assert.equal(sampleOf(families, "epochflow_records_read_total"), 0);
    assert.ok(sampleOf(families, "epochflow_partition_lag_bytes") > 0);
  });
});

describe("metrics under the weaker guarantees", () => {
  it("count what is committed with its decision", async (t) => {
    const folder = folderOf(t);
    for (const guarantee of ["at-least-once", "at-most-once"] as const) {
      const input = join(folder, `${guarantee}.txt`);
      writeFileSync(input, "a\nb\na\n");
      const definition = pipeline("lines", { guarantee })
        .from(files.source({ path: input, value: text() }))
        .to(files.sink({ path: join(folder, guarantee) }), { id: "lines" });
      const registry = new Registry();
      const { outcome } = await run(definition, { state: join(folder, `${guarantee}-state`), metrics: { registry } });
      assert.equal(outcome, "done");
      const families = await familiesOf(registry);
      const decided = sampleOf(families, "epochflow_epochs_decided_total");
      assert.ok(decided > 0);
      assert.equal(sampleOf(families, "epochflow_epochs_committed_total"), decided);
      assert.equal(sampleOf(families, "epochflow_epochs_lost_total"), 0);
    }
  });
});

describe("epochflow run --metrics", { concurrency: true }, () => {
  it("serves them at /metrics while it runs, to this machine alone, and only to be read", async () => {
    using place = new Place(words(0, 200));
    const started = place.start(["--follow", "--metrics", "0"]);
    await started.said(/metrics: (http:\S+)/);
    const [url = ""] = /http:\S+/.exec(started.stderr())!;
    await until("all is committed", async () => {
      const { status, body } = await get(url);
      assert.equal(status, 200);
      const families = parseMetrics(body);
      assert.ok(families.has("process_cpu_seconds_total") && families.has("process_resident_memory_bytes"));
      return sampleOf(families, "epochflow_records_read_total") === 200;
    });
    assert.match(url, /^http:\/\/127\.0\.0\.1:/);
    assert.equal((await get(url, { Host: "evil.example" })).status, 403);
    assert.equal((await get(url, { Host: "127.0.0.1.evil.example" })).status, 403);
    assert.equal((await get(url, {}, "POST")).status, 405);
    assert.equal((await get(url.replace("/metrics", "/"))).status, 404);
    started.child.kill("SIGINT");
    assertEnded(await started.finished, 130);
  });

  it("says so when the port is in use or no port, before anything is begun", async () => {
    using place = new Place(words(0, 10));
    assertEnded(await place.run("--metrics", "nowhere:x"), 2, /--metrics takes a port/);
    const started = place.start(["--follow", "--metrics", "0"]);
    await started.said(/metrics: http/);
    const port = /127\.0\.0\.1:(\d+)/.exec(started.stderr())![1]!;
    using other = new Place(words(0, 10));
    assertEnded(await other.run("--metrics", port), 2, /port \d+ of 127\.0\.0\.1 is in use/);
    started.child.kill("SIGINT");
    await started.finished;
  });
});
