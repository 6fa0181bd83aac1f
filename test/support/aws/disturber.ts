import { setTimeout as sleep } from "node:timers/promises";
import { StartExecutionCommand, StopExecutionCommand } from "@aws-sdk/client-sfn";
import type { FunctionName } from "../../../infra/bundle.ts";
import { executionName } from "../../../shared/epoch/names.ts";
import type { Fault } from "../emulator/fault-proxy.ts";
import { type EndStatus, endedEvent } from "./execution-events.ts";
import type { FaultyStack } from "./faulty-stack.ts";
import { pipeline } from "./leftovers.ts";
import type { Call } from "./recorder.ts";
import { killWorkers } from "./workers.ts";

/** What is done to a deployed pipeline. */
export const disturbances = [
  "death before an effect",
  "death after an effect",
  "death at any moment",
  "invoked twice",
  "invoked late",
  "out of time",
  "throttled",
  "execution stopped",
  "execution by hand",
  "triggers at once",
  "collection",
] as const;
export type Disturbance = (typeof disturbances)[number];

/** Longest time between a request and a death at any moment after it. */
const soonMs = 60;
/** How long a function's time-out or concurrency stays changed. */
const whileMs = 1500;
/** Tenths of that, until a function that has just been invoked is invoked again. */
const mostWaits = 30;
/** Calls from the last one on that are perhaps under way. */
const recent = 4;

/** Does to a deployed pipeline what AWS, people and chance do to it. */
export class Disturber {
  readonly #counts = new Map<Disturbance, number>();
  readonly #stack: FaultyStack;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #onCount: (what: Disturbance) => void;
  #isOver = false;

  /** @param onCount is told each time that one has come about */
  constructor(stack: FaultyStack, onCount: (what: Disturbance) => void = () => {}) {
    this.#stack = stack;
    this.#onCount = onCount;
  }

  /** What comes about somewhat later, or not at all. */
  readonly #deeds: Readonly<Record<Disturbance, () => unknown>> = {
    "death before an effect": () => this.#dieAtRequest("silent"),
    "death after an effect": () => this.#dieAtRequest("late silent"),
    "death at any moment": () => this.#dieSoon(),
    "invoked twice": () => this.#again("invoked twice", this.#stack.recorder.calls.slice(-recent)),
    "invoked late": () => this.#again("invoked late", this.#stack.recorder.calls.slice(0, -recent)),
    "out of time": () => this.#runOutOfTime(),
    throttled: () => this.#throttle(),
    "execution stopped": () => this.#stop(),
    "execution by hand": () => this.#start(),
    "triggers at once": () => this.#wake(),
    collection: () => this.#again("collection", [{ name: "collect", input: {} }]),
  };

  /** How often it has come about. */
  countOf(what: Disturbance): number {
    return this.#counts.get(what) ?? 0;
  }

  toString(): string {
    return disturbances.map((one) => `${one}: ${this.countOf(one)}`).join(", ");
  }

  async disturb(what: Disturbance): Promise<void> {
    await this.#deeds[what]();
  }

  /** From now on no function dies; resolves when all that was invoked has ended. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#underWay);
  }

  /** Its process dies instead of hearing of what it has asked for. */
  #dieAtRequest(fault: "silent" | "late silent"): void {
    const name = this.busyFunction();
    const what = fault === "silent" ? "death before an effect" : "death after an effect";
    this.#stack.proxies[name].inject(fault, () => !this.#isOver && this.#kill(name, what));
  }

  #dieSoon(): void {
    const name = this.busyFunction();
    const pause = this.#stack.random.below(soonMs);
    this.atRequest(name, () => setTimeout(() => this.#kill(name, "death at any moment"), pause));
  }

  #kill(name: FunctionName, what: Disturbance): boolean {
    const { emulator, functions } = this.#stack;
    if (killWorkers(emulator.pid, functions.nameOf(name)) === 0) return false;
    this.#count(what);
    return true;
  }

  #again(what: Disturbance, among: readonly Call[]): void {
    if (among.length === 0) return;
    const { name, input } = this.#oneOf(among);
    this.#invoke(name, input, what);
  }

  /** @param what it counts as, if it is invoked and gives an answer */
  #invoke(name: FunctionName, input: object, what?: Disturbance): void {
    const invoked = this.#stack.functions.invoke(name, input).then((invocation) => {
      if ("answer" in invocation) return what && this.#count(what);
      this.#stack.recorder.failures.push(invocation.failed);
    });
    this.#underWay.add(invoked);
    void invoked.finally(() => this.#underWay.delete(invoked));
  }

  /** It gets no answer to a request, and is ended for taking too long. */
  async #runOutOfTime(): Promise<void> {
    const { functions, proxies } = this.#stack;
    const name = this.busyFunction();
    let isSilent = false;
    await functions.setTimeout(name, 1);
    proxies[name].inject(this.#oneOf<Fault>(["silent", "late silent"]), () => {
      isSilent = !this.#isOver;
      return isSilent;
    });
    for (let waits = 0; waits < mostWaits && !isSilent; waits++) await sleep(whileMs / 10);
    if (isSilent) await sleep(whileMs);
    await functions.setTimeout(name, 60);
    if (isSilent) this.#count("out of time");
  }

  /** Its only place is taken by others. */
  async #throttle(): Promise<void> {
    const { functions, recorder } = this.#stack;
    if (recorder.calls.length === 0) return;
    const { name, input } = this.#oneOf(recorder.calls.slice(-recent));
    const before = recorder.throttles;
    await functions.reserve(name, 1);
    for (const until = performance.now() + whileMs; performance.now() < until; await sleep(50))
      this.#invoke(name, input);
    await functions.reserve(name, undefined);
    if (recorder.throttles > before) this.#count("throttled");
  }

  async #stop(): Promise<void> {
    const { clients } = this.#stack;
    const running = (await this.#stack.executions()).filter(({ status }) => status === "RUNNING");
    if (running.length === 0) return;
    const { executionArn } = this.#oneOf(running);
    const stopped = await clients.sfn.send(new StopExecutionCommand({ executionArn })).catch(() => undefined);
    if (stopped) this.#count("execution stopped"); // else it has ended meanwhile
  }

  /** By names that the pipeline will use, has used, or would never use. */
  async #start(): Promise<void> {
    const { clients, parts, ledger, random } = this.#stack;
    const [head, { run }] = await Promise.all([ledger.head(), ledger.wake()]);
    const ours = [0, 1, 1, 2].map((more) => executionName(pipeline, head!.uid, run + more));
    const name = this.#oneOf([...ours, `by-hand-${random.below(2 ** 31)}`]);
    const command = new StartExecutionCommand({ stateMachineArn: parts.stateMachine, name, input: "{}" });
    const started = await clients.sfn.send(command).catch(() => undefined);
    if (started) this.#count("execution by hand"); // else there was one of this name
  }

  /** Of all kinds; also of executions that ended long ago, whose events may come more than once. */
  async #wake(): Promise<void> {
    const executions = await this.#stack.executions();
    const ended = executions.filter(({ status }) => status === "ABORTED" || status === "FAILED");
    // Those that a lease may name: `trigger` has no right to look at others.
    const ours = executions.filter(({ name }) => name!.startsWith(`${pipeline}-`));
    this.#invoke("trigger", { eventSource: "aws:kafka", records: {} }, "triggers at once");
    this.#invoke("trigger", { source: "epochflow" });
    this.#invoke("trigger", { start: this.#oneOf(ours).name! });
    if (ended.length === 0) return;
    const { name, status } = this.#oneOf(ended);
    this.#invoke("trigger", endedEvent(this.#stack.parts.stateMachine, name!, status as EndStatus));
  }

  /** Does something at the next request of a function, which is not disturbed by it. */
  atRequest(name: FunctionName, work: () => void): void {
    let isNext = true;
    this.#stack.proxies[name].inject("silent", () => {
      if (isNext && !this.#isOver) work();
      isNext = false;
      return false;
    });
  }

  /** One that has just been invoked; now and then any. */
  busyFunction(): FunctionName {
    const { recorder, functions, random } = this.#stack;
    const busy = recorder.calls.slice(-recent).map(({ name }) => name);
    return this.#oneOf(random.below(6) === 0 || busy.length === 0 ? functions.all : busy);
  }

  #oneOf<T>(things: readonly T[]): T {
    return things[this.#stack.random.below(things.length)]!;
  }

  #count(what: Disturbance): void {
    this.#counts.set(what, this.countOf(what) + 1);
    this.#onCount(what);
  }
}
