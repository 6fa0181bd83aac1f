import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { flameGraph } from "./flame.ts";
import { phaseShares, rules, rulesWithoutCaller } from "./phases.ts";
import type { Profile } from "./profile.ts";

const shared = new URL("../../shared/", import.meta.url);
const functionOf = (id: number, functionName: string, file: string, children: number[] = []) => ({
  ...{ id, children },
  callFrame: { functionName, url: file === "" ? "" : `${shared}${file}` },
});

/** Microseconds of each node in `samples`. */
const profile: Profile = {
  nodes: [
    functionOf(1, "(root)", "", [2, 8, 9, 10]),
    functionOf(2, "readSource", "epoch/operate.ts", [3, 5]),
    functionOf(3, "process", "operators/source-stage.ts", [4]),
    // Of no phase of its own: its caller's.
    functionOf(4, "murmur2", "state/bytes.ts"),
    functionOf(5, "fire", "operators/keyed-stage.ts", [6]),
    functionOf(6, "write", "adapters/kafka/sink/staged-rows.ts", [7]),
    functionOf(7, "zstdCompressSync", ""),
    functionOf(8, "(garbage collector)", ""),
    functionOf(9, "(idle)", ""),
    functionOf(10, "onData", "adapters/kafka/protocol/broker-connection.ts"),
  ],
  samples: [2, 3, 4, 5, 6, 7, 8, 9, 10],
  timeDeltas: [10, 20, 20, 10, 10, 10, 10, 5000, 10],
};

test("time goes to the innermost function that has a phase", () => {
  const found = [...phaseShares([profile])].filter(([, share]) => share > 0);
  assert.deepEqual(Object.fromEntries(found), {
    "fetch and decode": 0.1,
    "operators and fold": 0.4,
    "merge and fire": 0.1,
    "encode and stage": 0.2,
    protocol: 0.1,
    "garbage collection": 0.1,
  });
});

test("the profiles of several threads are one", () => {
  const once = phaseShares([profile]);
  for (const [phase, share] of phaseShares([profile, profile])) assert.ok(Math.abs(share - once.get(phase)!) < 1e-9);
});

test("each rule is about a file that there is", () => {
  const root = new URL("../../", import.meta.url);
  const folders = [
    "shared",
    "local",
    "composition",
    "examples",
    "node_modules/aws-local-stepfunctions",
    "node_modules/kafkajs",
  ];
  const files = folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: "utf8" }).map(
      (name) => `${root}${folder}/${name}`,
    ),
  );
  for (const [file, phase] of [...rules, ...rulesWithoutCaller])
    assert.ok(
      files.some((name) => file.test(name)),
      `${phase}: ${file}`,
    );
});

test("a box of the flame graph is as wide as its share of the time, and lies under its caller", () => {
  const svg = flameGraph([profile], "a <job>");
  const boxes = [...svg.matchAll(/<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"[^>]*\/><text [^>]*>([^<]+)</g)]
    .filter(([, , y]) => Number(y) >= 50)
    .map(([, x, y, width, text]) => ({ text, x: Number(x), row: (Number(y) - 50) / 17, width: Number(width) }));
  const of = (name: string) => boxes.find(({ text }) => text!.startsWith(name))!;
  assert.match(svg, /a &lt;job&gt;/);
  assert.deepEqual(of("all"), { text: "all 100%", x: 0, row: 0, width: 1199.5 });
  // 80 of 100 microseconds.
  assert.equal(of("readSource operate").width, 959.5);
  assert.equal(of("process source-stage").row, 2);
  assert.equal(of("process source-stage").width, 479.5);
  assert.equal(of("murmur2").x, of("process source-stage").x);
  assert.doesNotMatch(svg, /idle|zstd/);
});
