import { Duration, RemovalPolicy } from "aws-cdk-lib";
import {
  AttributeType,
  Billing,
  type CfnGlobalTable,
  type ITable,
  TableEncryptionV2,
  TableV2,
} from "aws-cdk-lib/aws-dynamodb";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import { acknowledge } from "./acknowledged.ts";

export interface StorageOptions {
  readonly removalPolicy: RemovalPolicy | undefined;
  readonly encryptionKey: IKey | undefined;
}

/**
 * A bucket for snapshots. No object in it expires, for age says nothing of what is in use (I5): the collector knows, and deletes. Uploads of snapshots do, which nobody can go on with
 * once the function that made them has ended; but no others: one may be the output of a decided epoch that waits for its commit.
 *
 * @param pipeline its name, with which the keys of its snapshots begin
 */
export function stateBucket(
  scope: Construct,
  pipeline: string,
  { removalPolicy, encryptionKey }: StorageOptions,
): IBucket {
  const bucket = new Bucket(scope, "Bucket", {
    ...(encryptionKey
      ? { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }
      : { encryption: BucketEncryption.S3_MANAGED }),
    enforceSSL: true,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    removalPolicy: removalPolicy ?? RemovalPolicy.RETAIN,
    lifecycleRules: [{ prefix: `${pipeline}/`, abortIncompleteMultipartUploadAfter: Duration.days(1) }],
  });
  acknowledge(bucket, "AwsSolutions-S1");
  // CDK is not written for exact optional properties.
  return bucket as IBucket;
}

/** The table of the ledger. */
export function ledgerTable(scope: Construct, { removalPolicy, encryptionKey }: StorageOptions): ITable {
  const table = new TableV2(scope, "Table", {
    partitionKey: { name: "pk", type: AttributeType.STRING },
    sortKey: { name: "sk", type: AttributeType.STRING },
    billing: Billing.onDemand(),
    encryption: TableEncryptionV2.dynamoOwnedKey(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    removalPolicy: removalPolicy ?? RemovalPolicy.RETAIN,
  });
  if (encryptionKey) encryptBy(table, encryptionKey);
  return table as ITable;
}

/** TableV2 takes a key only in a stack that names its region, since it might have replicas in others. This one has none. */
function encryptBy(table: TableV2, { keyArn }: IKey): void {
  const resource = table.node.defaultChild as CfnGlobalTable;
  resource.sseSpecification = { sseEnabled: true, sseType: "KMS" };
  resource.addPropertyOverride("Replicas.0.SSESpecification", { KMSMasterKeyId: keyArn });
}
