import { existsSync } from "node:fs";
import type { Topology } from "../../../shared/pipeline/topology.ts";
import { openLedgerToRead, statePaths } from "../../compose.ts";
import { displayPath } from "../../paths.ts";
import type { Watcher } from "../events.ts";
import { Feed, type OpenLedger } from "./feed.ts";
import { servePage } from "./page-server.ts";

/** Milliseconds between two looks at a ledger of this machine. */
export const localLookEveryMs = 500;

/** Epochs that a page of a pipeline of this machine has at first. */
export const localHistory = 300;

/** Opened for each look: whoever closes a ledger last tidies up, which a run must do itself. */
export async function openForALook(state: string): Promise<OpenLedger | undefined> {
  if (!existsSync(statePaths(state).ledger)) return undefined;
  const ledger = openLedgerToRead(state);
  return { ledger, close: () => ledger.close() };
}

/** The page of a run: it is told of what the ledger does not keep. @throws as `servePage` */
export async function startPage({ port }: { readonly port?: number | undefined }, topology: Topology, state: string) {
  let isOver = false;
  const feed = new Feed({
    worker: "process",
    places: { state: displayPath(state) },
    topology,
    history: localHistory,
    openLedger: () => openForALook(state),
    atWork: async () => !isOver,
  });
  const { url, close } = await servePage(feed, { port, lookEveryMs: localLookEveryMs });
  const watch: Watcher = (event) => {
    if (event.type === "run-ended") isOver = true;
    feed.tell(event);
  };
  return { url, watch, stop: close };
}
