import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { kafka, parameter, pipeline, text } from "../shared/index.ts";
import { describe } from "../shared/pipeline/describe.ts";
import { folderOf } from "../test/support/folder.ts";
import { rememberParameters } from "./remembered-parameters.ts";

test("of secrets nothing is kept", async (context) => {
  const sasl = { mechanism: "plain", username: "me", password: parameter("password") } as const;
  const connection = kafka.connection({ brokers: parameter("brokers"), sasl });
  const topology = describe(
    pipeline("secretive")
      .from(kafka.source({ topic: "lines", value: text(), connection }))
      .to(kafka.sink({ topic: "out", value: text(), connection })),
  );
  const state = folderOf(context);
  const remember = (password: string) => rememberParameters(topology, { brokers: "one:9092", password }, state);
  assert.equal((await remember("first")).message, undefined);
  assert.equal((await remember("second")).message, undefined);
  assert.equal(readFileSync(join(state, "parameters.json"), "utf8"), '{\n  "brokers": "one:9092"\n}\n');
});
