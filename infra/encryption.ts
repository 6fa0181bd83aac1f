import { ArnFormat, Stack } from "aws-cdk-lib";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import { QueueEncryption, type QueueProps } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { Right } from "./rights.ts";

/** Keys of what the functions read and write, whoever has made it. */
export function keyArnsOf(bucket: IBucket, table: ITable, key: IKey | undefined): string[] {
  const keys = [key, bucket.encryptionKey, table.encryptionKey].filter((each) => each !== undefined);
  return [...new Set(keys.map(({ keyArn }) => keyArn))];
}

export const readingBy = (keyArns: readonly string[]): Right[] => rightOn(keyArns, ["Decrypt", "DescribeKey"]);

export const writingBy = (keyArns: readonly string[]): Right[] =>
  rightOn(keyArns, ["Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey"]);

const rightOn = (resources: readonly string[], actions: readonly string[]): Right[] =>
  resources.length === 0 ? [] : [{ actions: actions.map((action) => `kms:${action}`), resources }];

export const queueEncryption = (key: IKey | undefined): QueueProps => ({
  enforceSSL: true,
  ...(key
    ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
    : { encryption: QueueEncryption.SQS_MANAGED }),
});

/**
 * Lets CloudWatch Logs use the key for the stack's log groups. The policy of an imported key cannot be changed from here: its owner has to say the same.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
 */
export function letLogsUse(key: IKey, scope: Construct): void {
  const stack = Stack.of(scope);
  const groups = stack.formatArn({
    ...{ service: "logs", resource: "log-group", resourceName: "*" },
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`logs.${stack.region}.amazonaws.com`)],
      actions: ["Encrypt", "Decrypt", "ReEncryptFrom", "ReEncryptTo", "GenerateDataKey", "DescribeKey"].map(
        (action) => `kms:${action}`,
      ),
      // In a key's policy: this key.
      resources: ["*"],
      conditions: { ArnLike: { "kms:EncryptionContext:aws:logs:arn": groups } },
    }),
  );
}
