/** A short campaign on this machine: see `run.ts`. `EPOCHFLOW_TEST_SEED` has it begin with another seed. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { folderOf } from "../support/folder.ts";
import { aBroker, needing } from "../support/needing.ts";
import { runCampaign } from "./campaign.ts";
import { LocalArena } from "./local/arena.ts";
import type { Planted } from "./local/planted.ts";
import { describeCampaign } from "./report.ts";

const { describe, test } = await needing(aBroker);

const seed = Number(process.env.EPOCHFLOW_TEST_SEED ?? 19);
/** A round without Kafka, and so a quick one. */
const seedOfFiles = 1;

const limits = { minutes: Number.POSITIVE_INFINITY, disturbances: Number.POSITIVE_INFINITY };

test("a round on Kafka and files is exact", async (context) => {
  await using arena = new LocalArena({ count: 12 });
  const folder = folderOf(context);
  const results = await runCampaign(arena, { ...limits, seed, rounds: 1 }, { folderFor: () => join(folder, "kept") });
  context.diagnostic(describeCampaign(results));
  assert.deepEqual(
    results.flatMap(({ problems }) => problems),
    [],
  );
  assert.ok(results[0]!.tally.hard > 0 && results[0]!.rows > 100);
});

describe("a fault of a sink is noticed, and told with all that led to it", () => {
  async function notices(context: TestContext, planted: Planted, what: RegExp): Promise<void> {
    await using arena = new LocalArena({ count: 3, planted });
    const folder = folderOf(context);
    const results = await runCampaign(
      arena,
      { ...limits, seed: seedOfFiles, rounds: 3 },
      {
        folderFor: () => join(folder, "kept"),
      },
    );
    assert.equal(results.length, 1, "it goes on after a failure");
    const [{ problems, kept, title }] = results as [(typeof results)[0]];
    assert.doesNotMatch(title, /Kafka/);
    assert.match(problems.join("\n"), what);
    const told = readFileSync(join(kept!, "failure.txt"), "utf8");
    assert.match(told, new RegExp(`^seed ${seedOfFiles}\n`));
    assert.match(told, /all is healed/);
    assert.ok(problems.every((problem) => told.includes(problem)));
    readFileSync(join(kept!, "place", "state-disk", "state", "ledger.db"));
  }

  test("that loses a row", (context) => notices(context, "lost", /results: .* is missing/));
  test("that doubles one", (context) => notices(context, "doubled", /is a second row|comes after a count of/));
});
