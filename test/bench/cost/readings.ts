import { GetExecutionHistoryCommand, type HistoryEvent, ListExecutionsCommand } from "@aws-sdk/client-sfn";
import type { Emulator } from "../../support/emulator/emulator.ts";
import type { Clients } from "../../support/emulator/services.ts";
import type { LogEvent } from "./function-logs.ts";

/** Of all executions of a state machine. */
export async function executionHistories({ sfn }: Clients, stateMachineArn: string): Promise<HistoryEvent[][]> {
  const { executions = [] } = await sfn.send(new ListExecutionsCommand({ stateMachineArn }));
  return await Promise.all(executions.map(({ executionArn }) => history(sfn, executionArn!)));
}

async function history(sfn: Clients["sfn"], executionArn: string): Promise<HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  let nextToken: string | undefined;
  do {
    const page = await sfn.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1000, nextToken }));
    events.push(...(page.events ?? []));
    nextToken = page.nextToken;
  } while (nextToken);
  return events;
}

/** What functions have logged since a moment. */
export async function functionLogs(
  { endpoint }: Emulator,
  functions: Readonly<Record<string, string>>,
  startTime: number,
): Promise<{ name: string; events: LogEvent[] }[]> {
  return await Promise.all(
    Object.entries(functions).map(async ([name, functionName]) => ({
      name,
      events: await logEvents(endpoint, await logGroupOf(endpoint, functionName), startTime),
    })),
  );
}

// biome-ignore lint/suspicious/noExplicitAny: answers of two services
async function ask(endpoint: string, path: string, init?: RequestInit): Promise<any> {
  const answer = await fetch(endpoint + path, init);
  if (answer.ok) return await answer.json();
  throw new Error(`${path} failed: ${await answer.text()}`);
}

async function logGroupOf(endpoint: string, functionName: string): Promise<string> {
  const { LoggingConfig } = await ask(endpoint, `/2015-03-31/functions/${functionName}/configuration`);
  return LoggingConfig?.LogGroup ?? `/aws/lambda/${functionName}`;
}

async function logEvents(endpoint: string, logGroupName: string, startTime: number): Promise<LogEvent[]> {
  const events: LogEvent[] = [];
  let nextToken: string | undefined;
  do {
    const page = await ask(endpoint, "/", {
      method: "POST",
      headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": "Logs_20140328.FilterLogEvents" },
      body: JSON.stringify({ logGroupName, startTime, ...(nextToken && { nextToken }) }),
    });
    events.push(...page.events);
    nextToken = page.nextToken;
  } while (nextToken);
  return events;
}
