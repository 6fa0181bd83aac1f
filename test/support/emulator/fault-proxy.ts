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
  /** Is shown each request, whatever happens to it. */
  readonly watch?: (request: AwsRequest) => void;
}

/** Between a client and an emulator of AWS: does to requests what networks and busy services do. */
export interface FaultProxy extends AsyncDisposable {
  /** `http://127.0.0.1:port`, for clients. They need a time-out. */
  readonly endpoint: string;
  /** How many faults happened, */
  readonly count: number;
  /** and of which kinds. */
  readonly counts: Readonly<Partial<Record<Fault, number>>>;
  /** How many requests came. */
  readonly requests: number;
  /** The next requests that this says so for have this fault, and not by chance. */
  inject(fault: Fault, isMeant: (request: AwsRequest) => boolean, times?: number): void;
  /** The next request that this says so for waits at a gate: before it has its effect, or after that, without an answer. */
  hold(when: "before" | "after", isMeant: (request: AwsRequest) => boolean): Gate;
  close(): Promise<void>;
}

/** Holds a request until it is opened. */
export interface Gate {
  /** Resolves when a request waits here. */
  readonly reached: Promise<AwsRequest>;
  /** Whatever comes now passes. */
  open(): void;
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
  readonly counts: Partial<Record<Fault, number>> = {};
  requests = 0;
  readonly #target: string;
  readonly #plan: FaultPlan;
  readonly #random: SeededRandom;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));
  readonly #injected: { fault: Fault; isMeant: (request: AwsRequest) => boolean; times: number }[] = [];
  readonly #gates = new Set<ProxyGate>();
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

  hold(when: "before" | "after", isMeant: (request: AwsRequest) => boolean): Gate {
    const gate = new ProxyGate(when, isMeant, () => this.#gates.delete(gate));
    this.#gates.add(gate);
    return gate;
  }

  async close(): Promise<void> {
    for (const gate of this.#gates) gate.open();
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
      this.requests++;
      this.#plan.watch?.(asked);
      await this.#wait("before", asked);
      const fault = this.#faultOf(asked);
      if (fault === undefined) return await this.#forward(asked, outgoing);
      this.count++;
      this.counts[fault] = (this.counts[fault] ?? 0) + 1;
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

  async #wait(when: "before" | "after", asked: AwsRequest): Promise<void> {
    const gate = [...this.#gates].find((one) => one.when === when && one.isMeant(asked));
    if (gate === undefined) return;
    await gate.pass(asked);
  }

  /** Has the target do what it is asked for. `outgoing` gets the answer, or with `cut` the half of it. */
  async #forward(asked: AwsRequest, outgoing: ServerResponse | undefined, how?: "cut"): Promise<void> {
    const { expect: _, ...headers } = asked.headers;
    const onward = request(this.#target + asked.url, { method: asked.method, headers, agent: this.#agent });
    onward.end(asked.body);
    const [answered] = (await once(onward, "response")) as [IncomingMessage];
    const body = Buffer.concat(await answered.toArray());
    await this.#wait("after", asked);
    if (!outgoing) return;
    outgoing.writeHead(answered.statusCode!, answered.statusMessage, answered.rawHeaders);
    if (how === undefined || body.length < 2) return void outgoing.end(body);
    outgoing.write(body.subarray(0, body.length / 2), () => reset(outgoing));
  }
}

class ProxyGate implements Gate {
  readonly when: "before" | "after";
  readonly isMeant: (request: AwsRequest) => boolean;
  readonly #reached = Promise.withResolvers<AwsRequest>();
  readonly #opened = Promise.withResolvers<void>();

  readonly #remove: () => void;

  constructor(when: "before" | "after", isMeant: (request: AwsRequest) => boolean, remove: () => void) {
    this.when = when;
    this.isMeant = isMeant;
    this.#remove = remove;
  }

  get reached(): Promise<AwsRequest> {
    return this.#reached.promise;
  }

  open(): void {
    this.#remove();
    this.#opened.resolve();
  }

  pass(request: AwsRequest): Promise<void> {
    this.#remove();
    this.#reached.resolve(request);
    return this.#opened.promise;
  }
}

function answer(outgoing: ServerResponse, { status, type, body }: Answer): void {
  outgoing.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) });
  outgoing.end(body);
}

function reset(outgoing: ServerResponse): void {
  outgoing.socket?.resetAndDestroy();
}
