import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ListExecutionsCommand } from "@aws-sdk/client-sfn";
import { anyAccount, type Emulator } from "../emulator/emulator.ts";
import type { Clients } from "../emulator/services.ts";
import { until } from "../until.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export interface DeploymentOptions {
  readonly emulator: Emulator;
  readonly clients: Clients;
  /** For what is synthesized. */
  readonly folder: string;
  readonly stack: string;
  /** The module of the CDK app, below the project's root; by default what cdk.json says. */
  readonly app?: string;
  /** Whether the app's stacks want what `cdk bootstrap` makes. Default true. */
  readonly needsBootstrap?: boolean;
}

/** Of CloudFormation. */
export interface Template {
  readonly Resources: Readonly<
    Record<string, { readonly Type: string; readonly Properties?: Record<string, unknown> }>
  >;
}

/** Emulators that have what deployments need, such as the bucket for bundles. */
const bootstrapped = new WeakMap<Emulator, Promise<void>>();

/** A stack on the emulator, deployed by the CDK's own command. */
export class AwsDeployment {
  readonly #options: DeploymentOptions;

  constructor(options: DeploymentOptions) {
    this.#options = options;
  }

  /**
   * The first time, and again with other code or settings.
   *
   * @param context for the app, as `-c name=value`
   * @returns the outputs of the stack
   */
  async deploy(context: Readonly<Record<string, string>> = {}): Promise<Readonly<Record<string, string>>> {
    const { emulator, stack, folder, app, needsBootstrap = true } = this.#options;
    if (needsBootstrap) await bootstrapOf(emulator, folder);
    const outputs = join(folder, "outputs.json");
    const architecture = process.arch === "x64" ? "x86_64" : process.arch;
    const values = Object.entries({ architecture, ...context }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const command = app === undefined ? [] : ["--app", `node --conditions=epochflow-source ${app}`];
    const options = [...command, ...values, "--output", join(folder, "cdk.out"), "--outputs-file", outputs];
    await cdk(emulator, ["deploy", stack, "--require-approval", "never", ...options]);
    return JSON.parse(readFileSync(outputs, "utf8"))[stack];
  }

  /** As it was synthesized last. */
  async destroy(): Promise<void> {
    const { emulator, stack, folder } = this.#options;
    await cdk(emulator, ["destroy", stack, "--force", "--app", join(folder, "cdk.out")]);
  }

  /** As it was synthesized last. */
  get template(): Template {
    const { stack, folder } = this.#options;
    return JSON.parse(readFileSync(join(folder, "cdk.out", `${stack}.template.json`), "utf8"));
  }

  /** Invokes a function, as an event source would. @throws Error with the function's own if it fails */
  async invoke(functionName: string, event: object): Promise<unknown> {
    const url = `${this.#options.emulator.endpoint}/2015-03-31/functions/${functionName}/invocations`;
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(event) });
    const text = await answer.text();
    if (answer.ok && !answer.headers.has("x-amz-function-error")) return JSON.parse(text);
    throw new Error(`${functionName} failed: ${text}`);
  }

  /** Resolves once no execution runs, and so many at least have: the pipeline is idle. The first one is that by which a deployment wakes it, by and by. */
  async idle(stateMachineArn: string, executions = 0): Promise<void> {
    await until("the pipeline is idle", async () => {
      await sleep(100);
      const statuses = await this.statuses(stateMachineArn);
      return statuses.length >= executions && !statuses.includes("RUNNING");
    });
  }

  /** Of all executions. */
  async statuses(stateMachineArn: string): Promise<string[]> {
    const { executions = [] } = await this.#options.clients.sfn.send(new ListExecutionsCommand({ stateMachineArn }));
    return executions.map(({ status }) => String(status));
  }
}

/** @param folder without an app, which the CDK would synthesize first, into the project's own folder for that: one process at a time */
function bootstrapOf(emulator: Emulator, folder: string): Promise<void> {
  const bootstrap = () => cdk(emulator, ["bootstrap", `aws://000000000000/${anyAccount.region}`], folder);
  const started = bootstrapped.get(emulator) ?? bootstrap();
  bootstrapped.set(emulator, started);
  return started;
}

async function cdk({ endpoint }: Emulator, args: readonly string[], cwd = root): Promise<void> {
  await promisify(execFile)(join(root, "node_modules/.bin/cdk"), args, {
    cwd,
    env: {
      ...process.env,
      AWS_ENDPOINT_URL: endpoint,
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_REGION: anyAccount.region,
      AWS_ACCESS_KEY_ID: anyAccount.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: anyAccount.credentials.secretAccessKey,
      CDK_DISABLE_VERSION_CHECK: "true",
      CDK_VALIDATION: "false", // by CloudFormation's rules, which takes seconds, and says no more than `infra/app.test.ts`
    },
    maxBuffer: 1 << 26,
  });
}
