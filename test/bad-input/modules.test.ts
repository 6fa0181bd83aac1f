import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { assertEnded, goodLines, Project } from "./project.ts";

/** The pipeline's module with this before it, or without its default export. */
function change(project: Project, edit: (text: string) => string): void {
  writeFileSync(project.path("words.ts"), edit(project.read("words.ts").toString()));
}

const edits: Record<string, [edit: (text: string) => string, said: string[]]> = {
  "cannot be read": [(text) => text.replace("pipeline(", "pipeline(,"), ["Cannot load", "words.ts"]],
  "has no default export": [(text) => text.replace("export default", ""), ["words.ts has no default export"]],
  throws: [(text) => `throw new Error("no such setting");\n${text}`, ["no such setting", "words.ts", "line 1"]],
  "awaits what never happens": [(text) => `${text}\nawait new Promise(() => {});`, ["awaits what never happens"]],
};
for (const [what, [edit, said]] of Object.entries(edits)) {
  test(`a module that ${what}: nothing was begun, and mended nothing is lost`, async (t) => {
    const project = new Project(t);
    change(project, edit);
    assertEnded(await project.run(), 2, ...said);
    project.pipeline({});
    await project.finishes(goodLines);
  });
}

test("a module that leaves a timer does not hold the process", async (t) => {
  const project = new Project(t);
  change(project, (text) => `setInterval(() => {}, 1000);\n${text}`);
  await project.finishes(goodLines);
});
