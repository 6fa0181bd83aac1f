import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import { type Answer, type AwsRequest, broken, conflict, throttled } from "./aws-answers.ts";

/** What may happen to a request. Its effect happens not at all, or, after `late` and `cut`, though nobody hears of it. */
export const faults = [
  "throttled",
  "broken",
  "conflict",
  "reset",
  "silent",
  "late broken",
  "late reset",
  "late silent",
  "cut",
] as const;

export type Fault = (typeof faults)[number];

export interface FaultPlan {
  readonly seed: number;
  /** Of so many requests one has a fault. */
  readonly oneIn: number;
  /** Faults that a request must not have. */
  readonly spare?: (request: AwsRequest, fault: Fault) => boolean;
}

/** Between a client and an emulator of AWS: does to requests what networks and busy services do. */
export interface FaultProxy extends AsyncDisposable {
  /** `http://127.0.0.1:port`, for clients. They need a time-out. */
  readonly endpoint: string;
  /** How many faults happened. */
  readonly count: number;
  /** The next requests that this says so for have this fault, and not by chance. */
  inject(fault: Fault, isMeant: (request: AwsRequest) => boolean, times?: number): void;
  close(): Promise<void>;
}

/** Silence is rare: it costs a test the whole time-out. */
const byChance: readonly Fault[] = [...faults, ...faults, ...faults].filter(
  (fault, index) => index < faults.length || !fault.endsWith("silent"),
);

/** So many faults one after the other, at most: below the number of tries of a client. */
const mostInSequence = 3;

/** @param target `http://host:port` */
export async function startFaultProxy(target: string, plan: FaultPlan): Promise<FaultProxy> {
  const proxy = new ForwardingProxy(target, plan);
  await proxy.listen();
  return proxy;
}

class ForwardingProxy implements FaultProxy {
  count = 0;
  readonly #target: string;
  readonly #plan: FaultPlan;
  readonly #random: SeededRandom;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));
  readonly #injected: { fault: Fault; isMeant: (request: AwsRequest) => boolean; times: number }[] = [];
  #inSequence = 0;

  constructor(target: string, plan: FaultPlan) {
    this.#target = target;
    this.#plan = plan;
    this.#random = new SeededRandom(plan.seed);
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  inject(fault: Fault, isMeant: (request: AwsRequest) => boolean, times = 1): void {
    this.#injected.push({ fault, isMeant, times });
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await once(this.#server, "close");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const { method = "", url = "", headers } = incoming;
      const asked = { method, url, headers, body: Buffer.concat(await incoming.toArray()) };
      const fault = this.#faultOf(asked);
      if (fault === undefined) return await this.#forward(asked, outgoing);
      this.count++;
      await this.#misuse(fault, asked, outgoing);
    } catch {
      outgoing.destroy(); // one of the two is gone
    }
  }

  async #misuse(fault: Fault, asked: AwsRequest, outgoing: ServerResponse): Promise<void> {
    if (fault === "throttled") return answer(outgoing, throttled(asked));
    if (fault === "conflict") return answer(outgoing, conflict(asked)!);
    if (fault === "broken") return answer(outgoing, broken(asked));
    if (fault === "reset") return reset(outgoing);
    if (fault === "silent") return;
    if (fault === "cut") return await this.#forward(asked, outgoing, "cut");
    await this.#forward(asked, undefined);
    if (fault === "late broken") answer(outgoing, broken(asked));
    if (fault === "late reset") reset(outgoing);
  }

  #faultOf(asked: AwsRequest): Fault | undefined {
    const injected = this.#injected.find(({ isMeant, times }) => times > 0 && isMeant(asked));
    if (injected) {
      injected.times--;
      return injected.fault;
    }
    const fault =
      this.#random.below(this.#plan.oneIn) === 0 ? byChance[this.#random.below(byChance.length)] : undefined;
    const isSpared =
      fault === undefined ||
      this.#inSequence >= mostInSequence ||
      (fault === "conflict" && conflict(asked) === undefined) ||
      this.#plan.spare?.(asked, fault);
    this.#inSequence = isSpared ? 0 : this.#inSequence + 1;
    return isSpared ? undefined : fault;
  }

  /** Has the target do what it is asked for. `outgoing` gets the answer, or with `cut` the half of it. */
  async #forward(asked: AwsRequest, outgoing: ServerResponse | undefined, how?: "cut"): Promise<void> {
    const { expect: _, ...headers } = asked.headers;
    const onward = request(this.#target + asked.url, { method: asked.method, headers, agent: this.#agent });
    onward.end(asked.body);
    const [answered] = (await once(onward, "response")) as [IncomingMessage];
    const body = Buffer.concat(await answered.toArray());
    if (!outgoing) return;
    outgoing.writeHead(answered.statusCode!, answered.statusMessage, answered.rawHeaders);
    if (how === undefined || body.length < 2) return void outgoing.end(body);
    outgoing.write(body.subarray(0, body.length / 2), () => reset(outgoing));
  }
}

function answer(outgoing: ServerResponse, { status, type, body }: Answer): void {
  outgoing.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  outgoing.end(body);
}

function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}
