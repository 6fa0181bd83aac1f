/** docs/api is made by `npm run docs:api`: it must not fall behind what the package exports. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("../", import.meta.url);
const pages: Readonly<Record<string, string>> = {
  "shared/index.ts": "docs/api/epochflow.md",
  "local/index.ts": "docs/api/epochflow.local.md",
  "infra/index.ts": "docs/api/epochflow.infra.md",
  "shared/testing/index.ts": "docs/api/epochflow.testing.md",
};

const textOf = (path: string) => readFileSync(new URL(path, root), "utf8");

/** Names in the export lists of a module, as they are called outside. */
function exportsOf(module: string): string[] {
  const lists = module.matchAll(/^export (?:type )?\{([^}]*)\}/gms);
  const named = lists.flatMap(([, list]) => list!.split(","));
  const declared = module.matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm);
  return [...named, ...declared.map(([, name]) => name!)]
    .map(
      (one) =>
        one
          .trim()
          .replace(/^type /, "")
          .split(" as ")
          .at(-1)!,
    )
    .filter(Boolean);
}

for (const [module, page] of Object.entries(pages))
  test(`${page} describes all that ${module} exports`, () => {
    const headings = new Set(
      textOf(page)
        .matchAll(/^### (?:~~)?(?:`?abstract`? )?(\w+)/gim)
        .map(([, name]) => name),
    );
    const names = exportsOf(textOf(module));
    assert.ok(names.length > 2);
    assert.deepEqual(
      names.filter((name) => !headings.has(name)),
      [],
      "run `npm run docs:api`",
    );
  });
