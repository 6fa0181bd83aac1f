import assert from "node:assert/strict";
import { test } from "node:test";
import { type EpochRow, type Transition, transitions } from "../../epoch/epoch.ts";
import type { Items } from "./item-store.ts";
import { move } from "./moving.ts";

const row = (status: EpochRow["status"]) => ({ status, epoch: 7, attempt: 1 }) as EpochRow;

test("an epoch moves as the table of transitions says, and never out of decided (I3)", () => {
  const written: string[] = [];
  const items = { update: () => written.push("update"), insert: () => written.push("insert") } as unknown as Items;
  const statuses = ["planned", "fenced", "decided"] as const;
  for (const from of ["none", ...statuses] as const)
    for (const verb of ["plan", "fence", "decide", "restore"] satisfies Transition[])
      for (const to of statuses) {
        const act = () => move(items, verb, from === "none" ? undefined : row(from), row(to));
        if (transitions[from][verb] === to) act();
        else
          assert.throws(act, {
            code: "invariant-I3",
            message: new RegExp(`${verb} cannot move an epoch from ${from}`),
          });
      }
  assert.deepEqual(written.sort(), ["insert", "insert", "update", "update", "update", "update", "update", "update"]);
});
