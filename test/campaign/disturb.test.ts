import assert from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "../../shared/adapters/memory/random.ts";
import { disturb } from "./disturb.ts";
import { type Disturbed, type Kind, over } from "./disturbance.ts";
import { Tally } from "./tally.ts";
import { Timeline } from "./timeline.ts";

/** Something that goes on whatever is done to it, and is told what that is. */
function target() {
  const open = new Set<string>();
  let epochs = 0;
  const round: Disturbed = {
    random: new SeededRandom(1),
    timeline: new Timeline(),
    decided: async () => epochs++,
    feed: async () => {},
  };
  const kind = (name: string, more: Partial<Kind<Disturbed>> = {}): Kind<Disturbed> => ({
    ...{ name, sort: "kill", weight: 1 },
    async disturb() {
      open.add(name);
      return async () => void open.delete(name);
    },
    ...more,
  });
  return { open, round, kind };
}

const disturbed = async (kinds: readonly Kind<Disturbed>[], round: Disturbed, seed = 1, count = 40) => {
  const tally = new Tally();
  await disturb(round, { kinds, tally, count, order: new SeededRandom(seed), goesOn: () => true });
  return tally;
};

test("the same seed gives the same order, another one another", async () => {
  const orderOf = async (seed: number) => {
    const { round, kind } = target();
    await disturbed(
      ["a", "b", "c"].map((name) => kind(name)),
      round,
      seed,
    );
    return String(round.timeline).replaceAll(/^ *[\d.]+ s/gm, "");
  };
  const order = await orderOf(5);
  assert.equal(await orderOf(5), order);
  assert.notEqual(await orderOf(6), order);
});

test("several come at once, none twice, not those that exclude each other; in the end all are healed", async () => {
  const { open, round, kind } = target();
  const together = new Set<string>();
  const watched = ["a", "b", "c"].map((name) => {
    const one = kind(name, name === "a" ? { excludes: ["b"] } : {});
    return {
      ...one,
      disturb: async (given: Disturbed) => {
        assert.ok(!open.has(name));
        const healing = await one.disturb(given);
        together.add([...open].sort().join(""));
        return healing;
      },
    };
  });
  await disturbed(watched, round);
  assert.ok(together.has("bc") && together.has("ac"));
  assert.deepEqual(
    [...together].filter((names) => names.includes("ab")),
    [],
  );
  assert.deepEqual([...open], []);
});

test("what blocks comes not with what needs progress", async () => {
  const { open, round, kind } = target();
  const blocking = kind("blocking", { blocks: true });
  const needy = kind("needy", {
    needsProgress: true,
    disturb: async () => {
      assert.ok(!open.has("blocking"));
      return over;
    },
  });
  const tally = await disturbed([blocking, needy, kind("any")], round);
  assert.ok(tally.counts.every(({ count }) => count > 3));
});

test("what came to nothing does not count, what is counted by others is not counted twice", async () => {
  const { round, kind } = target();
  const nothing = kind("nothing", { disturb: async () => undefined });
  const later = kind("later", { disturb: async () => "later" });
  const tally = await disturbed([nothing, later, kind("some", { sort: "more", disturb: async () => over })], round);
  assert.deepEqual(
    tally.counts.map(({ name }) => name),
    ["some"],
  );
  assert.equal(tally.hard, 0);
});

test("a failure heals all, too", async () => {
  const { open, round, kind } = target();
  const failing = kind("failing", {
    async disturb() {
      throw new Error("out of order");
    },
  });
  await assert.rejects(disturbed([kind("a"), kind("b"), failing], round), /out of order/);
  assert.deepEqual([...open], []);
});
