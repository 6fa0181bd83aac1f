import {
  type ExecutionListItem,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  ListExecutionsCommand,
  type SFNClient,
} from "@aws-sdk/client-sfn";

/** All executions of a state machine, the first one first. */
export async function executionsOf(client: SFNClient, stateMachineArn: string): Promise<ExecutionListItem[]> {
  const executions: ExecutionListItem[] = [];
  let nextToken: string | undefined;
  do {
    const page = await client.send(new ListExecutionsCommand({ stateMachineArn, nextToken }));
    executions.push(...(page.executions ?? []));
    nextToken = page.nextToken;
  } while (nextToken);
  return executions.reverse();
}

/** Events of an execution with ids from `from` on, in order. */
export async function historyOf(client: SFNClient, executionArn: string, from = 1): Promise<HistoryEvent[]> {
  const events: HistoryEvent[] = [];
  let nextToken: string | undefined;
  do {
    const command = new GetExecutionHistoryCommand({ executionArn, reverseOrder: true, maxResults: 100, nextToken });
    const page = await client.send(command);
    events.push(...(page.events ?? []).filter(({ id }) => id! >= from));
    nextToken = (page.events?.at(-1)?.id ?? 0) > from ? page.nextToken : undefined;
  } while (nextToken);
  return events.reverse();
}
