import { statePaths } from "../../local/compose.ts";
import { displayPath } from "../../local/paths.ts";
import { Feed, type Shown } from "../../local/watch/page/feed.ts";
import { localHistory, localLookEveryMs, openForALook } from "../../local/watch/page/page-of-run.ts";
import { servePage } from "../../local/watch/page/page-server.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { findState } from "../find-state.ts";
import { listenForInterrupt } from "../interrupt.ts";
import type { PipelineOptions } from "../open-pipeline.ts";
import { say } from "../report.ts";
import { isOfStack, type OfStack } from "../stack-options.ts";

/** A look at a table costs, if little, and the page of a deployed pipeline may be open all day. */
const stackLookEveryMs = 5000;
const stackHistory = 60;

/** Whether somebody holds the lease is found by taking it for a moment: not with every look. */
const askEveryMs = 2000;

export async function uiCommand(
  pipeline: string | undefined,
  options: PipelineOptions & { readonly port?: number },
): Promise<ExitCode> {
  const ofStack = isOfStack(pipeline, options);
  await using open = ofStack ? await openStackToLook(options) : await openStateToLook(pipeline, options);
  const lookEveryMs = ofStack ? stackLookEveryMs : localLookEveryMs;
  const server = await servePage(new Feed(open.shown), { port: options.port, lookEveryMs });
  const { promise: interrupted, resolve } = Promise.withResolvers<void>();
  using _ = listenForInterrupt({ first: resolve, second() {} });
  say(`The page: ${server.url}  (Ctrl-C ends it)`);
  // The server alone keeps no process alive.
  const alive = setInterval(() => {}, 60_000);
  await interrupted;
  clearInterval(alive);
  await server.close();
  return exitCodes.done;
}

interface Looking extends AsyncDisposable {
  readonly shown: Shown;
}

async function openStateToLook(pipeline: string | undefined, options: PipelineOptions): Promise<Looking> {
  const { folder, topology } = await findState(pipeline, options);
  const { isAtWork } = await import("../state.ts");
  return {
    shown: {
      worker: "process",
      places: { state: displayPath(folder) },
      topology,
      history: localHistory,
      openLedger: () => openForALook(folder),
      atWork: nowAndThen(askEveryMs, async () => isAtWork(statePaths(folder).lease)),
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function openStackToLook(options: OfStack): Promise<Looking> {
  const open = await (await import("../stack/open.ts")).openStack(options);
  return {
    shown: {
      worker: open.worker,
      places: open.places,
      history: stackHistory,
      openLedger: async () => ({ ledger: open.ledger, close: async () => {} }),
      atWork: nowAndThen(3 * stackLookEveryMs, () => open.atWork()),
    },
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  };
}

/** The last answer, while it is fresh. */
function nowAndThen<T>(everyMs: number, ask: () => Promise<T>): () => Promise<T> {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer: Promise<T> | undefined;
  return () => {
    const now = performance.now();
    if (answer === undefined || now - askedAt > everyMs) {
      askedAt = now;
      answer = ask();
    }
    return answer;
  };
}
