import type { ExecutionListItem } from "@aws-sdk/client-sfn";
import type { PolicySettings } from "../../../functions/settings.ts";
import { variables } from "../../../functions/settings.ts";
import type { FunctionName } from "../../../infra/bundle.ts";
import type { SeededRandom } from "../../../shared/adapters/memory/random.ts";
import type { Ledger } from "../../../shared/ports/ledger.ts";
import { operationOf } from "../emulator/aws-answers.ts";
import type { Emulator } from "../emulator/emulator.ts";
import { type FaultProxy, startFaultProxy } from "../emulator/fault-proxy.ts";
import type { Clients } from "../emulator/services.ts";
import { until } from "../until.ts";
import { DeployedFunctions } from "./functions.ts";
import { executionsOf } from "./history.ts";
import { ledgerOf, leftovers } from "./leftovers.ts";
import { type AppSettings, type PipelineParts, PipelineStack } from "./pipeline-stack.ts";
import { Recorder } from "./recorder.ts";
import { RightsCheck } from "./rights-check.ts";

/** Of so many requests to tables, buckets and Step Functions one has a fault. */
const oneIn = 25;

export interface FaultyStackOptions {
  readonly emulator: Emulator;
  readonly clients: Clients;
  /** For what is synthesized. */
  readonly folder: string;
  readonly random: SeededRandom;
}

/** A deployed pipeline each function of which has a proxy of its own before it: whatever a function asks for, it is in the middle of its work. */
export class FaultyStack implements AsyncDisposable {
  readonly emulator: Emulator;
  readonly clients: Clients;
  readonly random: SeededRandom;
  readonly parts: PipelineParts;
  readonly functions: DeployedFunctions;
  readonly recorder: Recorder;
  readonly ledger: Ledger;
  readonly proxies = {} as Record<FunctionName, FaultProxy>;
  readonly rights: RightsCheck;
  readonly #stack: PipelineStack;
  #isCalm = false;

  static async deploy(options: FaultyStackOptions, settings: AppSettings): Promise<FaultyStack> {
    const deployed = new PipelineStack(options, settings);
    await deployed.deploy();
    const stack = new FaultyStack(options, deployed);
    for (const name of stack.functions.all) stack.proxies[name] = await stack.#startProxy(name);
    await stack.#interpose();
    return stack;
  }

  private constructor({ emulator, clients, random }: FaultyStackOptions, stack: PipelineStack) {
    this.emulator = emulator;
    this.clients = clients;
    this.random = random;
    this.parts = stack.parts;
    this.functions = new DeployedFunctions(emulator.endpoint, this.parts);
    this.recorder = new Recorder(clients.sfn, this.parts);
    this.ledger = ledgerOf(clients, this.parts);
    this.rights = new RightsCheck(stack);
    this.#stack = stack;
  }

  /** Of all functions that plan. */
  async setPolicy(policy: PolicySettings): Promise<void> {
    for (const name of ["plan", "fused"] as const)
      await this.functions.set(name, { [variables.policy]: JSON.stringify(policy) });
  }

  /** Other code or settings, by the CDK's own command, whatever runs meanwhile. */
  async deploy(changed: Partial<AppSettings["props"]>): Promise<void> {
    await this.#stack.deploy(changed);
    await this.#interpose();
  }

  /** Requests that had a fault. */
  get faults(): number {
    return Object.values(this.proxies).reduce((sum, { count }) => sum + count, 0);
  }

  executions(): Promise<ExecutionListItem[]> {
    return executionsOf(this.clients.sfn, this.parts.stateMachine);
  }

  /** As events of a source do, which come again until one is served. */
  async wake(): Promise<void> {
    await until(
      "the pipeline is woken",
      async () => "answer" in (await this.functions.invoke("trigger", { source: "epochflow" })),
    );
  }

  /** No request has a fault by chance any more. */
  calm(): void {
    this.#isCalm = true;
  }

  /** Resolves once no execution runs. */
  idle(): Promise<void> {
    return this.#stack.idle();
  }

  /** What is left behind after a collection, without what is kept for people to look at. */
  async leftovers(output: string): Promise<string[]> {
    await until("it is collected", async () => "answer" in (await this.functions.invoke("collect", {})));
    const { committed } = (await this.ledger.head())!;
    await this.ledger.trim({ detailsFrom: committed + 1, epochsFrom: committed + 1 });
    return await leftovers(this.clients, this.parts, output);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.functions[Symbol.dispose]();
    for (const proxy of Object.values(this.proxies)) await proxy.close();
  }

  /** A deployment knows nothing of proxies. */
  async #interpose(): Promise<void> {
    for (const name of this.functions.all)
      await this.functions.set(name, { AWS_ENDPOINT_URL: this.proxies[name].endpoint });
  }

  #startProxy(name: FunctionName): Promise<FaultProxy> {
    return startFaultProxy(this.emulator.endpoint, {
      seed: this.random.below(2 ** 31),
      oneIn,
      // A function waits for a bucket's answer for a minute.
      spare: (request, fault) => this.#isCalm || (fault.endsWith("silent") && operationOf(request) === undefined),
      watch: (request) => this.rights.record(name, request),
    });
  }
}
