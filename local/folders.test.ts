import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { files, pipeline, text } from "../shared/index.ts";
import { describe } from "../shared/pipeline/describe.ts";
import { checkFolders } from "./folders.ts";

const root = mkdtempSync(join(tmpdir(), "epochflow-folders-"));
after(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, "in"));
writeFileSync(join(root, "in.txt"), "");

const path = (name: string) => join(root, name);

function check(input: string, outputs: readonly string[], state = "state"): void {
  const stream = pipeline("p").from(files.source({ path: path(input), value: text() }));
  for (const [index, output] of outputs.entries())
    stream.to(files.sink({ path: path(output) }), { id: `sink${index}` });
  checkFolders(describe(stream), path(state));
}

test("folders of their own, also below each other, are fine", () => {
  check("in", ["out", "out/late", "in-2", "in/.out", "in/_out/deep"]);
  check("in.txt", ["", "in"]);
  check("not-there-yet", ["not-there-yet/out"]);
});

test("two sinks with one folder", () => {
  assert.throws(() => check("in.txt", ["a", "b", "b/"]), { code: "same-output", message: /sink1 and sink2 .*b$/ });
});

test("output and state in the input", () => {
  for (const output of ["in", "in/out", "in/deep/out"])
    assert.throws(() => check("in", [output]), { code: "output-in-input", message: /sink0.*would be read/ });
  assert.throws(() => check("in", ["out"], "in/state"), { code: "output-in-input", message: /^The state/ });
  check("in", ["out"], "in/.epochflow/p");
});
