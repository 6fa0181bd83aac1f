import { readFileSync } from "node:fs";

/** A row of the tables in README.md. */
export interface Figure {
  readonly name: string;
  readonly states: number;
  readonly transitions: number;
  readonly result: string;
}

/** All rows of README.md: what the documentation says is what the test checks. */
export function readFigures(): Figure[] {
  const text = readFileSync(new URL("./README.md", import.meta.url), "utf8");
  const rows = text.split("\n").filter((line) => /^\| [AB] /.test(line));
  return rows.map((line) => {
    const [name, states, transitions, , result] = line.slice(2, -2).split(" | ");
    return { name: name!, states: Number(states), transitions: Number(transitions), result: result! };
  });
}
