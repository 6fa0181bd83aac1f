import { randomUUID } from "node:crypto";
import type { EventBridgeEvent, SQSEvent } from "aws-lambda";
import { anyAccount } from "../emulator/emulator.ts";

export type EndStatus = "SUCCEEDED" | "FAILED" | "TIMED_OUT" | "ABORTED";

/** Of the event's detail, what does not depend on how the execution went. */
interface ExecutionDetail {
  readonly executionArn: string;
  readonly stateMachineArn: string;
  readonly name: string;
  readonly status: EndStatus;
  readonly startDate: number;
  readonly stopDate: number;
  readonly input: string;
  readonly output: null;
}

const account = "000000000000";

/**
 * The event of an ended execution, as a queue hands it to a function. Emulators put it there themselves, once and at once; EventBridge promises neither: with this it comes
 * again, or late.
 */
export function endedEvent(stateMachineArn: string, name: string, status: EndStatus): SQSEvent {
  const executionArn = `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${name}`;
  const now = Date.now();
  const body: EventBridgeEvent<"Step Functions Execution Status Change", ExecutionDetail> = {
    version: "0",
    id: randomUUID(),
    "detail-type": "Step Functions Execution Status Change",
    source: "aws.states",
    account,
    time: new Date(now).toISOString(),
    region: anyAccount.region,
    resources: [executionArn],
    detail: {
      ...{ executionArn, stateMachineArn, name, status },
      ...{ startDate: now - 1000, stopDate: now, input: "{}", output: null },
    },
  };
  return { Records: [messageOf(JSON.stringify(body), now)] };
}

function messageOf(body: string, now: number): SQSEvent["Records"][number] {
  return {
    messageId: randomUUID(),
    receiptHandle: randomUUID(),
    body,
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: String(now),
      SenderId: account,
      ApproximateFirstReceiveTimestamp: String(now),
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: `arn:aws:sqs:${anyAccount.region}:${account}:ended`,
    awsRegion: anyAccount.region,
  };
}
