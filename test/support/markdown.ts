import { readFileSync } from "node:fs";

/** A fenced block of code in a document. */
export interface Block {
  readonly document: string;
  /** Of its first line, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** What a comment right above it says after `name:`, invisible to who reads the page. */
  note(name: "with" | "not run"): string | undefined;
}

/** @param document a path below `root` */
export function blocksOf(root: URL, document: string): Block[] {
  const page = readFileSync(new URL(document, root), "utf8");
  const fenced = /(?:<!--(?<comment>(?:(?!-->).)*)-->\n+)?^```(?<language>\w*)\n(?<text>.*?)^```$/gms;
  return [...page.matchAll(fenced)].map(({ index, groups }) => {
    const { comment = "", language = "", text = "" } = groups!;
    return {
      document,
      line: page.slice(0, page.indexOf("```", index)).split("\n").length + 1,
      language,
      text,
      note: (name) => RegExp(`^\\s*${name}:(.*)$`, "s").exec(comment)?.[1]?.trim(),
    };
  });
}
