import { DescribeExecutionCommand, type SFNClient, StartExecutionCommand } from "@aws-sdk/client-sfn";
import type { Executions } from "../../ports/executions.ts";
import { awsError, nameOf } from "../aws/errors.ts";

/** Every starter gives a name the same input, so that to start a running one again is no error. */
const input = "{}";

/**
 * Runs of a state machine on Step Functions. A name is used once in 90 days; run numbers never come back. A start is idempotent by name: if its answer is lost
 * and it is sent again, Step Functions answers with the one that runs, or that the name exists.
 *
 * Errors are InfrastructureErrors as `awsError` has them.
 */
export class StepFunctionsExecutions implements Executions {
  readonly #client: SFNClient;
  readonly #stateMachineArn: string;

  constructor({ client, stateMachineArn }: { readonly client: SFNClient; readonly stateMachineArn: string }) {
    this.#client = client;
    this.#stateMachineArn = stateMachineArn;
  }

  async start(name: string): Promise<"started" | "exists"> {
    try {
      const command = new StartExecutionCommand({ stateMachineArn: this.#stateMachineArn, name, input });
      await this.#client.send(command);
      return "started";
    } catch (error) {
      if (nameOf(error) === "ExecutionAlreadyExists") return "exists";
      throw awsError(error, `start the execution ${name} of ${this.#stateMachineArn}`);
    }
  }

  async describe(name: string): Promise<"running" | "over" | "missing"> {
    try {
      const command = new DescribeExecutionCommand({ executionArn: this.#arnOf(name) });
      const { status } = await this.#client.send(command);
      return status === "RUNNING" || status === "PENDING_REDRIVE" ? "running" : "over";
    } catch (error) {
      if (nameOf(error) === "ExecutionDoesNotExist") return "missing";
      throw awsError(error, `look at the execution ${name} of ${this.#stateMachineArn}`);
    }
  }

  /** `arn:…:stateMachine:M` runs `arn:…:execution:M:name`. */
  #arnOf(name: string): string {
    return `${this.#stateMachineArn.replace(":stateMachine:", ":execution:")}:${name}`;
  }
}
