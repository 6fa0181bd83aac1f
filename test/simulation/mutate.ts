import { registerHooks } from "node:module";
import type { Mutant } from "./mutants.ts";

const root = new URL("../../", import.meta.url).href;

/** Has a mutant's files loaded with its faults in them. To be called before they are imported. @throws if a text is not there exactly once */
export function mutate({ name, patches }: Mutant): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const own = patches.filter(({ file }) => url === root + file);
      if (own.length === 0) return loaded;
      let source = String(loaded.source);
      for (const { file, from, to } of own) {
        const parts = source.split(from);
        if (parts.length !== 2) throw new Error(`mutant "${name}": ${file} has ${parts.length - 1} times: ${from}`);
        source = parts.join(to);
      }
      return { ...loaded, source };
    },
  });
}
