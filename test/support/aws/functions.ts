import {
  DeleteFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  InvokeCommand,
  LambdaClient,
  PutFunctionConcurrencyCommand,
  UpdateFunctionConfigurationCommand,
} from "@aws-sdk/client-lambda";
import type { FunctionName } from "../../../infra/bundle.ts";
import { anyAccount } from "../emulator/emulator.ts";
import type { PipelineParts } from "./pipeline-stack.ts";

/** What an invocation came to: an answer, or how it failed. */
export type Invoked = { readonly answer: unknown } | { readonly failed: string };

/** The functions of a pipeline in the hands of somebody who may invoke and change them. What is changed ends the processes that a function has. */
export class DeployedFunctions implements Disposable {
  readonly #client: LambdaClient;
  readonly #names: PipelineParts["functions"];

  constructor(endpoint: string, { functions }: Pick<PipelineParts, "functions">) {
    this.#client = new LambdaClient({ ...anyAccount, endpoint, maxAttempts: 1 });
    this.#names = functions;
  }

  get all(): readonly FunctionName[] {
    return Object.keys(this.#names) as FunctionName[];
  }

  /** As it is called when it is deployed. */
  nameOf(name: FunctionName): string {
    return this.#names[name];
  }

  /** Waits for the end of the invocation. */
  async invoke(name: FunctionName, input: object): Promise<Invoked> {
    const command = new InvokeCommand({ FunctionName: this.#names[name], Payload: JSON.stringify(input) });
    try {
      const { Payload, FunctionError } = await this.#client.send(command);
      const text = Payload?.transformToString() ?? "null";
      return FunctionError === undefined ? { answer: JSON.parse(text) } : { failed: text };
    } catch (error) {
      return { failed: String(error) };
    }
  }

  /** Environment variables, besides those that the function has. */
  async set(name: FunctionName, variables: Readonly<Record<string, string>>): Promise<void> {
    const FunctionName = this.#names[name];
    const { Environment } = await this.#client.send(new GetFunctionConfigurationCommand({ FunctionName }));
    const Variables = { ...Environment?.Variables, ...variables };
    await this.#client.send(new UpdateFunctionConfigurationCommand({ FunctionName, Environment: { Variables } }));
  }

  async setTimeout(name: FunctionName, seconds: number): Promise<void> {
    const FunctionName = this.#names[name];
    await this.#client.send(new UpdateFunctionConfigurationCommand({ FunctionName, Timeout: seconds }));
  }

  /** Invocations at once, at most; undefined: any number. */
  async reserve(name: FunctionName, concurrency: number | undefined): Promise<void> {
    const FunctionName = this.#names[name];
    if (concurrency === undefined) await this.#client.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
    else {
      const ReservedConcurrentExecutions = concurrency;
      await this.#client.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions }));
    }
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }
}
