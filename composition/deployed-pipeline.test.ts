import assert from "node:assert/strict";
import { test } from "node:test";
import { type DeployedPipeline, parseDeployedPipeline } from "./deployed-pipeline.ts";

const deployed: DeployedPipeline = {
  pipeline: "words",
  table: "table",
  bucket: "bucket",
  stateMachine: "arn:aws:states:eu-west-1:111122223333:stateMachine:words",
  functions: { trigger: "words-trigger", commit: "words-commit", collect: "words-collect" },
  sinks: { counts: "s3://bucket/counts" },
};

test("what a stack tells is read as it is", () => {
  assert.deepEqual(parseDeployedPipeline(JSON.stringify(deployed)), deployed);
  assert.deepEqual(parseDeployedPipeline(JSON.stringify({ ...deployed, sinks: {} })).sinks, {});
});

test("an output of something else is refused, with what it lacks", () => {
  const refused = (value: string, message: RegExp) =>
    assert.throws(() => parseDeployedPipeline(value), { code: "not-a-deployed-pipeline", message });
  refused("https://example.org", /no pipeline, table, bucket, stateMachine, functions.trigger/);
  refused("null", /no pipeline/);
  refused(JSON.stringify({ ...deployed, functions: { trigger: "t", commit: "c" } }), /no functions\.collect$/);
  refused(JSON.stringify({ ...deployed, sinks: { counts: 1 } }), /no sinks$/);
});
