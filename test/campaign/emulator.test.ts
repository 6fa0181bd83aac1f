/** A short campaign on the emulator: see `run.ts`. `EPOCHFLOW_TEST_SEED` has it begin with another seed. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { folderOf } from "../support/folder.ts";
import { aBroker, anEmulatorBesideUs, needing } from "../support/needing.ts";
import { runCampaign } from "./campaign.ts";
import { EmulatorArena } from "./emulator/arena.ts";
import { describeCampaign } from "./report.ts";

const { test } = await needing(anEmulatorBesideUs, aBroker);

const seed = Number(process.env.EPOCHFLOW_TEST_SEED ?? 3);

test("a round on a deployed pipeline is exact", async (context) => {
  await using arena = await EmulatorArena.start({ count: 6 });
  const folder = folderOf(context);
  const limits = { minutes: Number.POSITIVE_INFINITY, disturbances: Number.POSITIVE_INFINITY, seed, rounds: 1 };
  const results = await runCampaign(arena, limits, { folderFor: () => join(folder, "kept") });
  context.diagnostic(describeCampaign(results));
  assert.deepEqual(
    results.flatMap(({ problems }) => problems),
    [],
  );
  assert.ok(results[0]!.tally.hard > 0 && results[0]!.rows > 100);
});
