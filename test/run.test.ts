/** Runs that come one after the other, at the same time, and in between: by the program that users run. */
import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openLedger } from "../local/compose.ts";
import { runWith } from "../local/run.ts";
import type { EpochRow } from "../shared/epoch/epoch.ts";
import { InfrastructureError } from "../shared/errors.ts";
import { differences } from "./support/folder.ts";
import { readEpochs, readHead, readOutput } from "./support/inspect.ts";
import { type Around, around } from "./support/ports.ts";
import { until } from "./support/until.ts";
import { assertEnded, Place, words } from "./support/words.ts";

const recordsOf = (row: EpochRow) => (row.status === "decided" ? row.decision.counts.records : 0);

describe("one run after the other", { concurrency: true }, () => {
  it("does nothing when all is done, and says so", async () => {
    using place = new Place(words(0, 500));
    assertEnded(await place.run("--epoch-records", "100"), 0, /500 records/);
    const [output, head] = [readOutput(place.output), await readHead(place.state)];
    assertEnded(await place.run("--epoch-records", "100"), 0, /Nothing to do/);
    assert.deepEqual(differences(readOutput(place.output), output), []);
    assert.deepEqual(await readHead(place.state), head);
    assert.deepEqual(await place.rows(), place.expected());
  });

  it("goes on where it stopped when lines are appended, and reads none twice", async () => {
    using place = new Place(words(0, 500));
    assertEnded(await place.run("--hold"), 0);
    place.append(words(500, 730));
    assertEnded(await place.run("--epoch-records", "100"), 0, /230 records/);
    assert.deepEqual(await place.rows(), place.expected());
    const records = (await readEpochs(place.state)).map(recordsOf);
    assert.equal(
      records.reduce((sum, count) => sum + count),
      730,
    );
  });

  it("takes late what belongs to windows that the end of the input has closed, and says so", async () => {
    using place = new Place(words(0, 90));
    assertEnded(await place.run(), 0, /--hold/);
    const before = place.expected();
    place.append(words(90, 150));
    assertEnded(await place.run(), 0, /30 late/);
    const rows = [...before, ...place.expected().filter((row) => row.includes('"windowStart":120000'))].sort();
    assert.deepEqual(await place.rows(), rows);
  });

  it("goes on with other code of the same topology, in a new attempt of the epoch that the old one had begun", async () => {
    using place = new Place(words(0, 300));
    assertEnded(await place.run("--hold", "--epoch-records", "150"), 0);
    place.append(words(300, 400));
    const { child, finished } = place.start(["--epoch-records", "150"], 20);
    await until("epoch 3 is planned", async () => (await readEpochs(place.state)).length >= 3);
    child.kill("SIGKILL");
    await finished;
    const [begun] = (await readEpochs(place.state)).slice(-1);
    assert.equal(begun!.status, "planned");
    place.program("word.toUpperCase()");
    assertEnded(await place.run("--epoch-records", "150"), 0);
    const [done] = (await readEpochs(place.state)).filter(({ epoch }) => epoch === begun!.epoch);
    assert.equal(done!.status, "decided");
    assert.equal(done!.attempt, begun!.attempt + 1);
    assert.deepEqual(done!.plan, begun!.plan);
    assert.notEqual(done!.attemptPlan.codeDigest, begun!.attemptPlan.codeDigest);
    const rows = (await place.rows()).map((row) => JSON.parse(row) as { key: string; count: number });
    assert.equal(
      rows.reduce((sum, { count }) => sum + count, 0),
      400,
    );
    assert.ok(rows.some(({ key }) => key === "W1"));
  });
});

describe("two processes on the same state", { concurrency: true }, () => {
  it("one works, and the other leaves with code 3", async () => {
    using place = new Place(words(0, 4000));
    const first = place.start(["--epoch-records", "20"]);
    await place.decided(3);
    const second = await place.run("--epoch-records", "20");
    assert.equal(first.child.exitCode, null, "the first one must still be at work, or this shows nothing");
    assertEnded(second, 3, /another process/i);
    assertEnded(await first.finished, 0, /4,000 records/);
    assert.deepEqual(await place.rows(), place.expected());
  });

  it("the other waits with --wait, and finds nothing to do", async () => {
    using place = new Place(words(0, 4000));
    const first = place.start(["--epoch-records", "20"]);
    await place.decided(3);
    const second = await place.run("--epoch-records", "20", "--wait");
    assertEnded(second, 0, /waiting/, /Nothing to do/);
    assertEnded(await first.finished, 0);
    assert.deepEqual(await place.rows(), place.expected());
  });

  it("the other takes over at once when the first one is killed", async () => {
    using place = new Place(words(0, 4000));
    const first = place.start(["--epoch-records", "20"]);
    await place.decided(3);
    const second = place.start(["--epoch-records", "20", "--wait"]);
    await sleep(300);
    first.child.kill("SIGKILL");
    assertEnded(await second.finished, 0);
    assert.deepEqual(await place.rows(), place.expected());
  });

  it("whoever begins at the same moment, one wins, and the output is right", async () => {
    using place = new Place(words(0, 600));
    const ended = await Promise.all([1, 2, 3].map(() => place.run("--epoch-records", "20")));
    for (const { code, stderr } of ended) assert.ok(code === 0 || code === 3, stderr);
    assert.ok(ended.some(({ code }) => code === 0));
    assert.deepEqual(await place.rows(), place.expected());
  });
});

describe("a run that is interfered with", { concurrency: true }, () => {
  it("ends after the running epoch at Ctrl-C, with code 130, and loses nothing", async () => {
    using place = new Place(words(0, 4000));
    const { child, finished } = place.start(["--epoch-records", "20"]);
    await place.decided(3);
    child.kill("SIGINT");
    assertEnded(await finished, 130, /Interrupted/);
    const head = (await readHead(place.state))!;
    assert.equal(head.committed, head.decided);
    assert.ok(head.decided < 200);
    assertEnded(await place.run("--epoch-records", "20"), 0);
    assert.deepEqual(await place.rows(), place.expected());
  });

  it("ends at once at a second Ctrl-C, and loses nothing", async () => {
    using place = new Place(words(0, 300));
    const { child, finished, said } = place.start(["--epoch-records", "300"], 50);
    await until("epoch 1 is planned", async () => (await readEpochs(place.state)).length >= 1);
    child.kill("SIGINT");
    await said(/Ctrl-C again/);
    // Signals that come together count as one: npx passes on what the terminal sends to both.
    await sleep(400);
    assert.equal(child.exitCode, null, "the first one lets the epoch end");
    child.kill("SIGINT");
    assertEnded(await finished, 130);
    assert.equal((await readHead(place.state))!.decided, 0);
    assertEnded(await place.run("--epoch-records", "300"), 0);
    assert.deepEqual(await place.rows(), place.expected());
  });

  it("pauses after the running epoch, stays paused, and goes on after resume", async () => {
    using place = new Place(words(0, 4000));
    const running = place.start(["--epoch-records", "20"]);
    await place.decided(3);
    assertEnded(await place.command("pause"), 0, /paused/);
    assertEnded(await running.finished, 0, /Paused/);
    const { decided, committed } = (await readHead(place.state))!;
    assert.equal(committed, decided);
    assert.ok(decided < 200);
    assertEnded(await place.run("--epoch-records", "20"), 1, /paused/, /resume/);
    assert.equal(JSON.parse((await place.command("status", "--json")).stdout).status, "paused");
    assert.equal((await readHead(place.state))!.decided, decided);
    assertEnded(await place.command("resume"), 0);
    assertEnded(await place.run("--epoch-records", "20"), 0);
    assert.deepEqual(await place.rows(), place.expected());
  });

  it("begins anew after reset: all rows come once more, in new epochs", async () => {
    using place = new Place(words(0, 500));
    assertEnded(await place.run("--epoch-records", "100"), 0);
    const before = readOutput(place.output);
    assertEnded(await place.command("reset"), 2, /asks first/);
    assertEnded(await place.run("--epoch-records", "100"), 0, /Nothing to do/);
    assertEnded(await place.command("reset", "--yes"), 0);
    assertEnded(await place.run("--epoch-records", "100"), 0, /500 records/);
    assert.deepEqual(await place.rows(), [...place.expected(), ...place.expected()].sort());
    const after = readOutput(place.output);
    for (const [name, bytes] of before) assert.ok(after.get(name)?.equals(bytes), `${name} must stay as it was`);
  });

  it("refuses reset and abandon while it is at work", async () => {
    using place = new Place(words(0, 4000));
    const running = place.start(["--epoch-records", "20"]);
    await place.decided(3);
    assertEnded(await place.command("reset", "--yes"), 3);
    const head = (await readHead(place.state))!;
    const abandon = await place.command("abandon", "--sink", "counts", "--epoch", String(head.decided), "--yes");
    assert.ok(abandon.code === 3 || abandon.code === 2, abandon.stderr);
    assertEnded(await running.finished, 0);
    assert.deepEqual(await place.rows(), place.expected());
  });

  it("stops at output that can never be committed; abandon gives up that, and no more", async () => {
    using place = new Place(words(0, 500));
    const options = { state: place.state, epochRecords: 100 };
    const refuse: Around = (method, call) => {
      if (method !== "sink.commit") return call();
      return Promise.reject(new InfrastructureError("injected", "nothing can be committed")) as never;
    };
    const failed = await runWith(place.module, options, { engine: (engine) => around(engine, refuse) });
    assert.equal(failed.outcome, "failed");
    const staging = join(place.output, ".epochflow", "staging");
    for (const name of readdirSync(staging)) if (name.includes(".counts.1.")) rmSync(join(staging, name));
    assertEnded(await place.run("--epoch-records", "100"), 4, /rows of epoch 1 are lost/);
    assertEnded(await place.run("--epoch-records", "100"), 4, /rows of epoch 1 are lost/);
    assertEnded(await place.command("abandon", "--sink", "counts", "--epoch", "9", "--yes"), 2);
    assertEnded(await place.command("abandon", "--sink", "counts", "--epoch", "1"), 2, /asks first/);
    assertEnded(await place.command("abandon", "--sink", "counts", "--epoch", "1", "--yes"), 0);
    assertEnded(await place.command("resume"), 0);
    assertEnded(await place.run("--epoch-records", "100"), 0);
    // The first hundred seconds had closed the first minute.
    assert.deepEqual(
      await place.rows(),
      place.expected().filter((row) => !row.includes('"windowStart":0,')),
    );
  });
});

describe("executions", () => {
  it("hand over before their history is full, as often as it takes", async () => {
    using place = new Place(words(0, 1000));
    const eventBudget = 300;
    const options = { state: place.state, epochRecords: 50, parallelism: 1 };
    const { outcome } = await runWith(place.module, options, {
      engine: (engine) => ({ ...engine, policy: { ...engine.policy, eventBudget } }),
    });
    assert.equal(outcome, "done");
    const ledger = openLedger(place.state);
    const { run, owner } = await ledger.wake();
    await ledger.close();
    assert.ok(run > 3, `${run} executions`);
    assert.equal(owner, null);
    assert.deepEqual(await place.rows(), place.expected());
  });
});
