import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type AwsRequest, operationOf } from "../../support/emulator/aws-answers.ts";
import type { Charge, Span } from "./charge.ts";
import { UnitCounter } from "./dynamodb-units.ts";
import { typicalMs } from "./latencies.ts";
import { requestClass } from "./s3-requests.ts";
import { rowsIn, whatOf } from "./what.ts";

/** Between functions and an emulator of AWS: notes what AWS would bill for each request. */
export class MeteringProxy implements AsyncDisposable {
  readonly charges: Charge[] = [];
  /** From when to when each request was waited for. */
  readonly requests: Span[] = [];
  /** Bytes of objects that were written, by request. */
  readonly written: { readonly at: number; readonly key: string; readonly bytes: number }[] = [];
  readonly #target: string;
  readonly #units = new UnitCounter();
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));

  /** @param target `http://host:port` */
  private constructor(target: string) {
    this.#target = target;
  }

  static async start(target: string): Promise<MeteringProxy> {
    const proxy = new MeteringProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** Sort keys and bytes of the table's rows. */
  rows(): [key: string, bytes: number][] {
    return this.#units.rows();
  }

  /** `http://127.0.0.1:port` */
  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await once(this.#server, "close");
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const { method = "", url = "", headers } = incoming;
      const asked = { method, url, headers, body: Buffer.concat(await incoming.toArray()) };
      const from = Date.now();
      const { answered, body } = await this.#forward(asked);
      this.#note(asked, answered.statusCode!, body);
      // The emulator is nearer than AWS's services are to their functions.
      await sleep(Math.max(0, from + typicalMs(asked) - Date.now()));
      this.requests.push({ from, to: Date.now() });
      outgoing.writeHead(answered.statusCode!, answered.statusMessage, answered.rawHeaders);
      outgoing.end(body);
    } catch {
      outgoing.destroy(); // one of the two is gone
    }
  }

  async #forward({ method, url, headers, body }: AwsRequest) {
    const { expect: _, ...others } = headers;
    const onward = request(this.#target + url, { method, headers: others, agent: this.#agent });
    onward.end(body);
    const [answered] = (await once(onward, "response")) as [IncomingMessage];
    return { answered, body: Buffer.concat(await answered.toArray()) };
  }

  #note(asked: AwsRequest, status: number, answer: Buffer): void {
    const target = String(asked.headers["x-amz-target"] ?? "");
    if (target.startsWith("DynamoDB")) this.#noteTable(operationOf(asked)!, asked.body, status, answer);
    else if (target === "") this.#noteBucket(asked);
  }

  #noteTable(operation: string, body: Buffer, status: number, answer: Buffer): void {
    const asked = JSON.parse(body.toString());
    const { read, write } = this.#units.count(operation, asked, status, JSON.parse(answer.toString() || "{}"));
    const what = `DynamoDB ${operation} of ${rowsIn(operation, asked)}`;
    this.charges.push({ at: Date.now(), what, usage: { readUnits: read, writeUnits: write } });
  }

  #noteBucket({ method, url, headers, body }: AwsRequest): void {
    const kind = requestClass(method, url);
    const at = Date.now();
    const usage = { s3Puts: kind === "put" ? 1 : 0, s3Gets: kind === "get" ? 1 : 0 };
    this.charges.push({ at, what: `S3 ${whatOf(method, url)}`, usage });
    const bytes = Number(headers["x-amz-decoded-content-length"] ?? body.length);
    if (method === "PUT") this.written.push({ at, key: new URL(url, "http://s3").pathname, bytes });
  }
}
