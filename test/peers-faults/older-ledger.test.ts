/**
 * A backup of the state is brought back after newer epochs were committed. Peers then write again what is there, or skip what is not (Spark's checkpoint folder and a sink that has gone on or begun anew:
 * SPARK-55058, apache/paimon#9667). Here it is a loss, by name, and nothing is written.
 * For Kafka's sink the same is tested where its marker is above the ledger: `shared/adapters/kafka/sink/lane-commit.test.ts`.
 */
import assert from "node:assert/strict";
import { cpSync, renameSync, rmSync } from "node:fs";
import { test } from "node:test";
import type { Engine } from "../../shared/epoch/engine.ts";
import { plan } from "../../shared/epoch/plan.ts";
import { LossError } from "../../shared/errors.ts";
import { assertEnded, countsOf, goodLines, lineOf, Project } from "../bad-input/project.ts";
import { readTree } from "../support/folder.ts";
import { readHead } from "../support/inspect.ts";

const more = Array.from({ length: 60 }, (_, second) => lineOf((60 + second) * 1000, `word-${second % 5}`));
const all = [...goodLines, ...more];

for (const [how, records] of Object.entries({ "the same": "5", other: "7", "one large": "1000" }))
  test(`files: a ledger older than its output stops the pipeline, though it would plan ${how} epochs`, async (t) => {
    const project = new Project(t);
    assertEnded(await project.run("--hold"), 0);
    const state = project.path(".epochflow", "words");
    cpSync(state, project.path("backup"), { recursive: true });
    const { decided } = (await readHead(state))!;
    project.input(all);
    assertEnded(await project.run(), 0);
    const output = readTree(project.path("out"));

    renameSync(state, project.path("newer"));
    cpSync(project.path("backup"), state, { recursive: true });
    const run = () => project.epochflow("run", "words.ts", "--epoch-records", records);
    assertEnded(await run(), 4, project.path("out"), `${decided} epochs only`, "older", "epochflow resume");
    assert.equal((await readHead(state))!.decided, decided);
    assert.deepEqual(readTree(project.path("out")), output, "nothing was written");

    // The way out.
    rmSync(state, { recursive: true });
    renameSync(project.path("newer"), state);
    assertEnded(await run(), 0, "Nothing to do");
    assert.deepEqual(await project.counts(), countsOf(all));
  });

test("a plan that was held up, while its twin went on, is no judge of the ledger's age (I8)", async () => {
  const loss = new LossError("ledger-older-than-output", "it is newer", { wayOut: "none" });
  for (const [nowDecided, expected] of [
    [5, "stopped"],
    [6, "again"],
  ] as const) {
    let heads = 0;
    let stopped = false;
    const head = () => ({ status: "running", fingerprint: "", decided: heads++ === 0 ? 5 : nowDecided, committed: 5 });
    const engine = {
      topology: { name: "p", guarantee: "exactly-once", stages: [0], sinks: { out: {} } },
      fingerprint: "",
      policy: { draining: () => false, parallelism: 1, eventBudget: 1000 },
      clock: { now: () => 0 },
      sink: () => ({ open: () => Promise.reject(loss) }),
      ledger: {
        wake: async () => ({ owner: 1, sequence: 0, events: 0 }),
        head: async () => head(),
        stop: async () => {
          stopped = true;
        },
      },
    } as unknown as Engine;
    assert.deepEqual(await plan(engine, { run: 1 }), { action: "again" });
    assert.equal(stopped ? "stopped" : "again", expected);
  }
});
