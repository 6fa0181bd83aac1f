import { QueryCommand } from "@aws-sdk/client-dynamodb";
import { parseS3Path } from "../../../composition/s3-path.ts";
import { DynamoLedger } from "../../../shared/adapters/dynamodb/ledger.ts";
import { objectsOf } from "../../../shared/adapters/dynamodb/rows.ts";
import type { Attributes } from "../../../shared/adapters/dynamodb/table.ts";
import { Bucket } from "../../../shared/adapters/s3/bucket.ts";
import { S3ObjectStore } from "../../../shared/adapters/s3/object-store.ts";
import { readManifests } from "../../../shared/adapters/s3/reader.ts";
import type { EpochRow } from "../../../shared/epoch/epoch.ts";
import { collect } from "../../../shared/testing/collect.ts";
import type { Clients } from "../emulator/services.ts";
import type { PipelineParts } from "./pipeline-stack.ts";

/** The pipeline of all apps of tests. */
export const pipeline = "word-count";

export function ledgerOf(clients: Clients, { table, bucket }: PipelineParts): DynamoLedger {
  const objects = new S3ObjectStore({ client: clients.s3, bucket });
  return new DynamoLedger({ client: clients.dynamodb, table, pipeline, objects });
}

/**
 * What is there and should not be, or the other way round, after the collector had its way: objects that no retained checkpoint and no row names, named ones
 * that are gone (I5), rows of attempts that are over, files that no manifest names, uploads.
 *
 * @param output `s3://bucket/prefix` of a files sink
 */
export async function leftovers(clients: Clients, parts: PipelineParts, output: string): Promise<string[]> {
  const rows = await rowsOf(clients, parts.table);
  const epochs = await ledgerOf(clients, parts).epochs({ from: 1, to: Number.MAX_SAFE_INTEGER });
  return [
    ...(await objectsLeft(clients, parts, epochs, rows)),
    ...rowsLeft(epochs, rows),
    ...(await filesLeft(clients, output)),
  ];
}

async function objectsLeft(
  { s3 }: Clients,
  parts: PipelineParts,
  epochs: readonly EpochRow[],
  rows: readonly Attributes[],
): Promise<string[]> {
  const bucket = new Bucket(s3, parts.bucket);
  const stored = new Set((await collect(bucket.list(""))).map(({ key }) => key));
  const retained = epochs.flatMap((row) =>
    row.status === "decided" && !row.dropped
      ? Object.values(row.decision.checkpoint.stages).flatMap((runs) => runs.flatMap((run) => run.objects))
      : [],
  );
  const named = new Set([...retained, ...rows.flatMap(objectsOf)]);
  const uploads = await collect(bucket.uploads(""));
  return [
    ...[...stored].filter((key) => !named.has(key)).map((key) => `object ${key} is nobody's`),
    ...[...named].filter((key) => !stored.has(key)).map((key) => `object ${key} is gone (I5)`),
    ...uploads.map(({ key }) => `an upload of object ${key} is open`),
  ];
}

/** Acks and units are kept as long as their epochs, but of the decided attempt only. */
function rowsLeft(epochs: readonly EpochRow[], rows: readonly Attributes[]): string[] {
  const attempts = new Map(epochs.map(({ epoch, attempt }) => [epoch, attempt]));
  return rows.flatMap(({ sk }) => {
    const [, epoch, attempt] = /^EPOCH#(\d+)#(\d+)#/.exec(sk!.S!) ?? [];
    return epoch === undefined || attempts.get(Number(epoch)) === Number(attempt) ? [] : [`row ${sk!.S} is nobody's`];
  });
}

async function filesLeft({ s3 }: Clients, output: string): Promise<string[]> {
  const { bucket: name, prefix } = parseS3Path(output);
  const bucket = new Bucket(s3, name);
  const manifests = await collect(readManifests({ client: s3, bucket: name, prefix }));
  const named = new Set(manifests.flatMap(({ files }) => files.map(({ file }) => `${prefix}/${file}`)));
  const files = (await collect(bucket.list(`${prefix}/part-`))).map(({ key }) => key);
  const uploads = await collect(bucket.uploads(`${prefix}/`));
  return [
    ...files.filter((key) => !named.has(key)).map((key) => `file ${key} is in no manifest`),
    ...uploads.map(({ key }) => `an upload of file ${key} is open`),
  ];
}

async function rowsOf({ dynamodb }: Clients, table: string): Promise<Attributes[]> {
  const rows: Attributes[] = [];
  let start: Attributes | undefined;
  do {
    const page = await dynamodb.send(
      new QueryCommand({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pipeline",
        ExpressionAttributeValues: { ":pipeline": { S: pipeline } },
        ExclusiveStartKey: start,
      }),
    );
    rows.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  return rows;
}
