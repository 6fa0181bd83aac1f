import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, Billing, type ITable, TableEncryptionV2, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import { acknowledge } from "./acknowledged.ts";

/** A bucket for snapshots. It has no lifecycle: the collector knows what is in use, and age says nothing of that (I5). */
export function stateBucket(scope: Construct, removalPolicy = RemovalPolicy.RETAIN): IBucket {
  const bucket = new Bucket(scope, "Bucket", {
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    removalPolicy,
  });
  acknowledge(bucket, "AwsSolutions-S1");
  // CDK is not written for exact optional properties.
  return bucket as IBucket;
}

/** The table of the ledger. */
export function ledgerTable(scope: Construct, removalPolicy = RemovalPolicy.RETAIN): ITable {
  return new TableV2(scope, "Table", {
    partitionKey: { name: "pk", type: AttributeType.STRING },
    sortKey: { name: "sk", type: AttributeType.STRING },
    billing: Billing.onDemand(),
    encryption: TableEncryptionV2.dynamoOwnedKey(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    removalPolicy,
  }) as ITable;
}
