import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ListExecutionsCommand } from "@aws-sdk/client-sfn";
import { anyAccount, type Emulator } from "./emulator/emulator.ts";
import type { Clients } from "./emulator/services.ts";
import { until } from "./until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The app of cdk.json, deployed by the CDK's own command. */
export class AwsDeployment {
  readonly #emulator: Emulator;
  readonly #clients: Clients;
  readonly #folder: string;

  /** @param folder for what is synthesized */
  constructor(emulator: Emulator, clients: Clients, folder: string) {
    this.#emulator = emulator;
    this.#clients = clients;
    this.#folder = folder;
  }

  /** @returns the outputs of the stack */
  async deploy(stack: string): Promise<Readonly<Record<string, string>>> {
    const outputs = join(this.#folder, "outputs.json");
    await this.#cdk("bootstrap", `aws://000000000000/${anyAccount.region}`);
    await this.#cdk("deploy", stack, "--require-approval", "never", "--outputs-file", outputs);
    return JSON.parse(readFileSync(outputs, "utf8"))[stack];
  }

  /** Invokes a function, as an event source would. @throws Error with the function's own if it fails */
  async invoke(functionName: string, event: object): Promise<unknown> {
    const url = `${this.#emulator.endpoint}/2015-03-31/functions/${functionName}/invocations`;
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(event) });
    const text = await answer.text();
    if (answer.ok && !answer.headers.has("x-amz-function-error")) return JSON.parse(text);
    throw new Error(`${functionName} failed: ${text}`);
  }

  /** Resolves once no execution runs: the pipeline is idle. */
  async idle(stateMachineArn: string): Promise<void> {
    await until("the pipeline is idle", async () => {
      await sleep(100);
      return !(await this.statuses(stateMachineArn)).includes("RUNNING");
    });
  }

  /** Of all executions. */
  async statuses(stateMachineArn: string): Promise<string[]> {
    const { executions = [] } = await this.#clients.sfn.send(new ListExecutionsCommand({ stateMachineArn }));
    return executions.map(({ status }) => String(status));
  }

  async #cdk(...args: string[]): Promise<void> {
    const { endpoint } = this.#emulator;
    const architecture = process.arch === "x64" ? "x86_64" : process.arch;
    const common = ["--output", join(this.#folder, "cdk.out"), "-c", `architecture=${architecture}`];
    await promisify(execFile)(join(root, "node_modules/.bin/cdk"), [...args, ...common], {
      cwd: root,
      env: {
        ...process.env,
        AWS_ENDPOINT_URL: endpoint,
        AWS_ENDPOINT_URL_S3: endpoint,
        AWS_REGION: anyAccount.region,
        AWS_ACCESS_KEY_ID: anyAccount.credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: anyAccount.credentials.secretAccessKey,
        CDK_DISABLE_VERSION_CHECK: "true",
      },
      maxBuffer: 1 << 26,
    });
  }
}
