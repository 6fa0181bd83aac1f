import type { Emulator } from "../emulator/emulator.ts";

/** How soon what a function could not serve comes again: deployed queues wait for minutes. @param part of the queue's name */
export async function comeAgainAfter(emulator: Emulator, part: RegExp, seconds: number): Promise<void> {
  const { QueueUrls = [] } = await sqs(emulator, "ListQueues", {});
  const QueueUrl = (QueueUrls as string[]).find((url) => part.test(url));
  await sqs(emulator, "SetQueueAttributes", { QueueUrl, Attributes: { VisibilityTimeout: String(seconds) } });
}

async function sqs({ endpoint }: Emulator, action: string, input: object) {
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` };
  const answer = await fetch(endpoint, { method: "POST", headers, body: JSON.stringify(input) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${action} failed: ${text}`);
  return text === "" ? {} : JSON.parse(text);
}
