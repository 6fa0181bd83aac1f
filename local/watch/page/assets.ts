import { readFileSync } from "node:fs";
import module from "node:module";
import { codeRoot, runsFromSources } from "../../package-files.ts";

/** What the page consists of: paths below this package's `local`, without the ending of a module. */
const documents = {
  "/": { file: "watch/page/client/index.html", type: "text/html; charset=utf-8" },
  "/page.css": { file: "watch/page/client/page.css", type: "text/css; charset=utf-8" },
  "/icon.svg": { file: "watch/page/client/icon.svg", type: "image/svg+xml" },
} as const;
const modules = [
  ...["main", "dom", "model", "header", "tiles", "timeline", "timeline-view", "topology", "partitions"],
  ...["epochs", "detail", "incidents", "spark"],
].map((name) => `watch/page/client/${name}`);

export interface Asset {
  readonly type: string;
  readonly body: string;
}

/** The page's files by the paths of their addresses, and nothing else. They lie beside each other as on disk, so that their imports lead to each other. */
export function loadAssets(): ReadonlyMap<string, Asset> {
  const read = (file: string) => readFileSync(new URL(`local/${file}`, codeRoot), "utf8");
  return new Map<string, Asset>([
    ...Object.entries(documents).map(([path, { file, type }]) => [path, { type, body: read(file) }] as const),
    ...[...modules, "format"].map((name) => [`/${name}.js`, moduleOf(name, read)] as const),
  ]);
}

/** In a clone modules are TypeScript, which Node runs as it is and browsers do not. */
function moduleOf(name: string, read: (file: string) => string): Asset {
  const type = "text/javascript; charset=utf-8";
  if (!runsFromSources) return { type, body: read(`${name}.js`) };
  const body = withoutWarning(() => module.stripTypeScriptTypes(read(`${name}.ts`)));
  return { type, body: body.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"') };
}

/** That a function is experimental is nothing to tell users of a clone. */
function withoutWarning<T>(work: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
