import type { ServerResponse } from "node:http";
import { UsageError } from "../../../shared/errors.ts";
import { type Answer, end, type Served, serve } from "../http.ts";
import { loadAssets } from "./assets.ts";
import type { Feed } from "./feed.ts";

export interface PageOptions {
  /** 0: any that is free; absent: 4040, or the next one that is free. */
  readonly port?: number | undefined;
  /** Milliseconds between two looks at the ledger, while somebody has the page open. */
  readonly lookEveryMs: number;
}

/** A page may load what this server has, and nothing from anywhere else. */
const securityHeaders = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
};

/** Serves the page of a pipeline to this machine alone. It reads, and changes nothing. @throws as `serve` */
export async function servePage(feed: Feed, { port, lookEveryMs }: PageOptions): Promise<Served> {
  const assets = loadAssets();
  const audience = new Audience(feed, lookEveryMs);
  const answer: Answer = async (path, request, response) => {
    for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
    const asset = assets.get(path);
    if (asset) return void response.writeHead(200, { "Content-Type": asset.type }).end(asset.body);
    if (path === "/events") return await audience.add(response);
    const query = new URL(request.url!, "http://localhost").searchParams;
    if (path === "/epochs") return json(response, await feed.before(wholeNumber(query.get("before"))));
    if (path === "/epoch") {
      const detail = await feed.detail(wholeNumber(query.get("epoch")));
      return detail ? json(response, detail) : end(response, 404, "There is no such epoch, or none any more.");
    }
    end(response, 404, "There is nothing here.");
  };
  const server = await serveAt(port, answer);
  return {
    url: server.url,
    async close() {
      await audience.end();
      await server.close();
    },
  };
}

const usualPort = 4040;
const triedPorts = 20;

/** Two runs at once have two pages: only a port that somebody has asked for must be that one. */
async function serveAt(port: number | undefined, answer: Answer): Promise<Served> {
  for (let next = port ?? usualPort; ; next++)
    try {
      return await serve("The page", { host: "127.0.0.1", port: next }, answer);
    } catch (error) {
      const isTaken = error instanceof UsageError && error.code === "port-in-use";
      if (!isTaken || port !== undefined || next >= usualPort + triedPorts) throw error;
    }
}

const wholeNumber = (text: string | null) => (/^\d{1,15}$/.test(text ?? "") ? Number(text) : 0);

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}

/** The pages that are open (server-sent events). While there is none nobody looks at the ledger. */
class Audience {
  readonly #feed: Feed;
  readonly #lookEveryMs: number;
  /** False: it must get everything, as it missed something. */
  readonly #pages = new Map<ServerResponse, boolean>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(feed: Feed, lookEveryMs: number) {
    this.#feed = feed;
    this.#lookEveryMs = lookEveryMs;
  }

  async add(response: ServerResponse): Promise<void> {
    response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
    response.on("close", () => this.#pages.delete(response));
    this.#pages.set(response, false);
    await this.#look();
  }

  /** Tells how it ended. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#looking;
    if (this.#pages.size > 0) await this.#look();
    clearTimeout(this.#timer);
    for (const page of this.#pages.keys()) page.end();
  }

  #look(): Promise<void> {
    this.#looking ??= this.#tell().finally(() => {
      this.#looking = undefined;
      clearTimeout(this.#timer);
      if (this.#pages.size > 0) this.#timer = setTimeout(() => this.#look(), this.#lookEveryMs).unref();
    });
    return this.#looking;
  }

  async #tell(): Promise<void> {
    const news = await this.#feed.look();
    const all = this.#feed.all;
    for (const [page, isUpToDate] of this.#pages) {
      // A page that reads slower than it is told gets everything, once it has room.
      if (page.writableNeedDrain) this.#pages.set(page, false);
      else {
        page.write(`data: ${JSON.stringify(isUpToDate ? news : all)}\n\n`);
        this.#pages.set(page, true);
      }
    }
  }
}
