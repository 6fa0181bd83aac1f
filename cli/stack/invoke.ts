import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { awsError, nameOf } from "../../shared/adapters/aws/errors.ts";
import { InfrastructureError } from "../../shared/errors.ts";
import type { StackOptions } from "../stack-options.ts";
import { settingsFor } from "./clients.ts";

/** What a function answers that has failed: https://docs.aws.amazon.com/lambda/latest/dg/nodejs-exceptions.html */
interface Failure {
  readonly errorType?: string;
  readonly errorMessage?: string;
}

/**
 * Invokes a function of a deployed pipeline and waits for its answer.
 *
 * @throws InfrastructureError `function-failed`; those of `awsError`, of which `unreachable` does not say whether it did its work
 */
export async function invoke(
  options: StackOptions,
  functionName: string,
  event: object,
  requestTimeoutMs: number,
): Promise<unknown> {
  // Once: a second try would wait as long again.
  const client = new LambdaClient(settingsFor(options, { requestTimeoutMs, maxAttempts: 1 }));
  try {
    const command = new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(event) });
    const { FunctionError, Payload } = await client.send(command);
    const answer: unknown = JSON.parse(Buffer.from(Payload ?? []).toString("utf8") || "null");
    if (FunctionError === undefined) return answer;
    throw failed(functionName, answer as Failure);
  } catch (error) {
    if (nameOf(error) === "TimeoutError") throw silent(functionName, requestTimeoutMs);
    throw awsError(error, `invoke the function ${functionName}`, "lambda:InvokeFunction");
  } finally {
    client.destroy();
  }
}

function failed(functionName: string, { errorType, errorMessage }: Failure): InfrastructureError {
  const what = errorMessage ?? "it does not say why";
  return new InfrastructureError("function-failed", `The function ${functionName} has failed: ${what} (${errorType})`, {
    wayOut: "Its log says more, in CloudWatch: the function's page in the console leads there, under Monitor.",
  });
}

function silent(functionName: string, timeoutMs: number): InfrastructureError {
  const message = `The function ${functionName} did not answer within ${timeoutMs / 1000} s; it may be at work still`;
  return new InfrastructureError("unreachable", message, {
    wayOut: "`epochflow status` with the same --stack shows what came of it; then call this again if need be.",
  });
}
