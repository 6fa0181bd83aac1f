import assert from "node:assert/strict";
import { test } from "node:test";
import { count, deadLetter, files, hours, json, kafka, pipeline, sliding, text } from "../../../shared/index.ts";
import { describe } from "../../../shared/pipeline/describe.ts";
import { fingerprint } from "../../../shared/pipeline/fingerprint.ts";
import { graphOf, graphOfFingerprint } from "./graph.ts";

const topology = describe(
  pipeline("p", { onError: deadLetter(files.sink({ path: "dead" })) })
    .from(kafka.source({ topic: "lines", value: text() }))
    .map((line) => line.trim())
    .to(files.sink({ path: "trimmed" }), { id: "trimmed" })
    .keyBy((line) => line)
    .window(sliding({ size: hours(2), every: hours(1) }), { late: files.sink({ path: "late" }) })
    .aggregate({ count: count() })
    .to(kafka.sink({ topic: "counts", value: json() }), { id: "counts" }),
);
const edgesOf = ({ edges }: ReturnType<typeof graphOf>) =>
  edges.map(({ from, to, count: counted, side }) => `${from} ${side ? "-- " : "→ "}${to} ${JSON.stringify(counted)}`);

test("a topology with branches, late records and dead letters", () => {
  const graph = graphOf(topology);
  assert.deepEqual(edgesOf(graph), [
    'source-1 → map-1 "records"',
    'map-1 → trimmed {"rows":"trimmed"}',
    "map-1 → key-by-1 null",
    "key-by-1 → window-1 null",
    'window-1 -- window-1-late {"rows":"window-1-late"}',
    'window-1 → counts {"rows":"counts"}',
    'source-1 -- dead-letter {"rows":"dead-letter"}',
  ]);
  const detail = new Map(graph.nodes.map((node) => [node.id, node.detail]));
  assert.equal(detail.get("source-1"), "kafka lines");
  assert.equal(detail.get("window-1"), "2 hours every 1 hour");
  assert.equal(detail.get("dead-letter"), "dead letters, files");
  assert.equal(graph.partial, false);
});

test("from the ledger alone it has sources, stateful operators and sinks, and says that this is not all", () => {
  const graph = graphOfFingerprint(fingerprint(topology));
  assert.equal(graph.partial, true);
  assert.deepEqual(
    graph.nodes.map(({ id, kind }) => `${kind} ${id}`),
    ["source source-1", "window window-1", "sink counts", "sink trimmed", "sink window-1-late"],
  );
});
