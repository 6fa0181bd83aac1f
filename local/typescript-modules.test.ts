import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import "./typescript-modules.ts";

const folder = mkdtempSync(join(tmpdir(), "epochflow-syntax-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return pathToFileURL(join(folder, name)).href;
}
write("package.json", `{ "type": "commonjs" }`);

test("a .ts file with module syntax is a module, and so is what it imports, though its package says commonjs", async () => {
  write("helper.ts", "export const seven: number = 7;");
  const url = write("pipeline.ts", `import { seven } from "./helper.ts";\nexport default seven as number;\n`);
  assert.equal((await import(url)).default, 7);
});

test("a .ts file without it stays CommonJS", async () => {
  const url = write("old.ts", "const seven: number = 7;\nmodule.exports = { seven };\n");
  assert.equal((await import(url)).seven, 7);
});

test("a syntax error keeps its place", async () => {
  const url = write("broken.ts", `export const one: number = 1;\nexport const two = = 2;\n`);
  await assert.rejects(import(url), SyntaxError);
});
