import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import { clientSettings } from "../../../shared/adapters/aws/client-settings.ts";
import { anyAccount } from "./emulator.ts";

/** Clients with the product's settings, but for how long they wait; an emulator answers at once, or not at all. */
export function clientsOf(endpoint: string, requestTimeoutMs = 10_000) {
  const settings = { ...anyAccount, endpoint, ...clientSettings({ requestTimeoutMs }) };
  const dynamodb = new DynamoDBClient(settings);
  const s3 = new S3Client(settings);
  const sfn = new SFNClient(settings);
  const close = () => {
    for (const client of [dynamodb, s3, sfn]) client.destroy();
  };
  return { dynamodb, s3, sfn, close, [Symbol.dispose]: close };
}

export type Clients = ReturnType<typeof clientsOf>;

let made = 0;

/** A name that this process has not used yet. */
export function freshName(what: string): string {
  made += 1;
  return `${what}-${process.pid}-${made}`;
}

/** A table as `DynamoLedger` wants it. */
export async function createTable({ dynamodb }: Clients): Promise<string> {
  const TableName = freshName("ledger");
  const keys = [
    ["pk", "HASH"],
    ["sk", "RANGE"],
  ] as const;
  await dynamodb.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: keys.map(([AttributeName]) => ({ AttributeName, AttributeType: "S" })),
      KeySchema: keys.map(([AttributeName, KeyType]) => ({ AttributeName, KeyType })),
    }),
  );
  return TableName;
}

export async function createBucket({ s3 }: Clients): Promise<string> {
  const Bucket = freshName("bucket");
  await s3.send(new CreateBucketCommand({ Bucket }));
  return Bucket;
}
