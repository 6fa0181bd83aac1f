import type { RemovalPolicy } from "aws-cdk-lib";
import type { FunctionName } from "../../../infra/bundle.ts";
import type { StreamPipelineProps } from "../../../infra/index.ts";
import { type Clients, createBucket } from "../emulator/services.ts";
import { AwsDeployment, type DeploymentOptions, type Template } from "./deployment.ts";

/** What `test/aws/app/app.ts` deploys: a pipeline without a heartbeat. */
export interface AppSettings {
  /** No two tests have the same: they run at once, and bundles are made by this name. */
  readonly stack: string;
  readonly props: Pick<StreamPipelineProps, "entry" | "parameters" | "policy" | "memory"> & {
    readonly removalPolicy?: `${RemovalPolicy}`;
  };
  /** Variables of all functions, such as `AWS_ENDPOINT_URL` with a proxy's address. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Names of what was deployed; the state machine's is its ARN. */
export interface PipelineParts {
  readonly table: string;
  readonly bucket: string;
  readonly stateMachine: string;
  readonly functions: Readonly<Record<FunctionName, string>>;
}

/** What Lambda is to poll, and hand to the function `trigger`. */
export interface TopicMapping {
  readonly topic: string;
  readonly bootstrapServers: string;
  /** Most records of an event. */
  readonly batchSize: number;
}

/** The output of the stack that holds them. */
export const partsOutput = "Parts";

/** A pipeline in a stack of its own. */
export class PipelineStack {
  readonly #deployment: AwsDeployment;
  readonly #clients: Clients;
  #settings: AppSettings;
  #bundles: string | undefined;
  #parts: PipelineParts | undefined;

  constructor(where: Pick<DeploymentOptions, "emulator" | "clients" | "folder">, settings: AppSettings) {
    const { stack } = settings;
    this.#deployment = new AwsDeployment({ ...where, stack, app: "test/aws/app/app.ts", needsBootstrap: false });
    this.#clients = where.clients;
    this.#settings = settings;
  }

  get parts(): PipelineParts {
    if (this.#parts === undefined) throw new Error("the pipeline is not deployed yet");
    return this.#parts;
  }

  /** As it was synthesized last. */
  get template(): Template {
    return this.#deployment.template;
  }

  /** Event source mappings of Kafka, as they were deployed. */
  get topicMappings(): TopicMapping[] {
    const resources = Object.values(this.template.Resources);
    const mappings = resources.filter(({ Type }) => Type === "AWS::Lambda::EventSourceMapping");
    return mappings.flatMap(({ Properties }) => topicMappings(Properties as unknown as MappingProperties));
  }

  /** The first time, and again with other code or settings. */
  async deploy(changed: Partial<AppSettings["props"]> = {}): Promise<void> {
    const { props, ...others } = this.#settings;
    this.#settings = { ...others, props: { ...props, ...changed } };
    this.#bundles ??= await createBucket(this.#clients);
    const context = { settings: JSON.stringify(this.#settings), bundles: this.#bundles };
    const outputs = await this.#deployment.deploy(context);
    this.#parts = JSON.parse(outputs[partsOutput]!);
  }

  /** Takes the stack away, but for what its removal policy keeps. */
  destroy(): Promise<void> {
    return this.#deployment.destroy();
  }

  /** @returns what the function answers. @throws Error with the function's own if it fails */
  invoke(name: FunctionName, event: object): Promise<unknown> {
    return this.#deployment.invoke(this.parts.functions[name], event);
  }

  /** Resolves once no execution runs, and so many at least have. The first one is that by which a deployment wakes the pipeline, by and by. */
  idle(executions = 0): Promise<void> {
    return this.#deployment.idle(this.parts.stateMachine, executions);
  }

  /** Of all executions, the last one first. */
  statuses(): Promise<string[]> {
    return this.#deployment.statuses(this.parts.stateMachine);
  }
}

interface MappingProperties {
  readonly Topics?: readonly string[];
  readonly BatchSize?: number;
  readonly SelfManagedEventSource?: {
    readonly Endpoints: { readonly KafkaBootstrapServers: readonly string[] };
  };
}

function topicMappings({ Topics = [], BatchSize = 100, SelfManagedEventSource }: MappingProperties): TopicMapping[] {
  const bootstrapServers = SelfManagedEventSource?.Endpoints.KafkaBootstrapServers.join(",") ?? "";
  return Topics.map((topic) => ({ topic, bootstrapServers, batchSize: BatchSize }));
}
