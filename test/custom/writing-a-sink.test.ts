/** The page that leads through the example shows its very code. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { blocksOf } from "../support/markdown.ts";

const root = new URL("../../", import.meta.url);
const plain = (text: string) => text.replaceAll(/\s+/g, " ").trim();

test("code in docs/writing-a-sink.md is that of the example", () => {
  const shown = blocksOf(root, "docs/writing-a-sink.md").filter((block) => block.note("not run"));
  assert.ok(shown.length > 4);
  for (const block of shown) {
    const file = block.note("not run")!;
    assert.ok(
      plain(readFileSync(new URL(file, root), "utf8")).includes(plain(block.text)),
      `line ${block.line}: not in ${file}`,
    );
  }
});
