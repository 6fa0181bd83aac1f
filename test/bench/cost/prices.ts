/**
 * Public prices of AWS in US East (N. Virginia), in US dollars, without free tiers and discounts, as they were on the date below. AWS's pages load most of their
 * numbers by script; where a number was read elsewhere, `readAt` says where.
 */
export const priceDate = "2026-11-30";
export const region = "us-east-1";

export interface Price {
  readonly usd: number;
  /** So many of them for that. */
  readonly per: number;
  readonly unit: string;
  /** AWS's own page. */
  readonly source: string;
  readonly readAt?: string;
}

const stepFunctions = "https://aws.amazon.com/step-functions/pricing/";
const lambda = "https://aws.amazon.com/lambda/pricing/";
const dynamodb = "https://aws.amazon.com/dynamodb/pricing/on-demand/";
const s3 = "https://aws.amazon.com/s3/pricing/";
const cloudwatch = "https://aws.amazon.com/cloudwatch/pricing/";
const flink = "https://aws.amazon.com/managed-service-apache-flink/pricing/";

const lambdaReadAt = { readAt: "https://cloudchipr.com/blog/aws-lambda-pricing" };
const dynamodbReadAt = { readAt: "https://airbyte.com/data-engineering-resources/dynamodb-pricing" };
const s3ReadAt = {
  readAt: "https://devnotes.tech/understanding-aws-s3-pricing-a-complete-cost-breakdown-with-examples",
};
const cloudwatchReadAt = { readAt: "https://github.com/api-evangelist/cloudwatch/blob/main/plans/" };
const flinkReadAt = { readAt: "https://github.com/api-evangelist/kinesis/blob/main/plans/kinesis-plans-pricing.yml" };

const million = 1e6;

/** What grows with the number of epochs and records. */
export const usagePrices = {
  stateTransitions: { usd: 0.025, per: 1000, unit: "state transitions", source: stepFunctions },
  lambdaRequests: { usd: 0.2, per: million, unit: "invocations", source: lambda, ...lambdaReadAt },
  /** Of arm64, the construct's default; x86 costs 0.0000166667. */
  lambdaGbSeconds: { usd: 0.0000133334, per: 1, unit: "GB-seconds", source: lambda, ...lambdaReadAt },
  writeUnits: { usd: 0.625, per: million, unit: "write request units", source: dynamodb, ...dynamodbReadAt },
  readUnits: { usd: 0.125, per: million, unit: "read request units", source: dynamodb, ...dynamodbReadAt },
  s3Puts: { usd: 0.005, per: 1000, unit: "PUT, COPY, POST, LIST requests", source: s3, ...s3ReadAt },
  s3Gets: { usd: 0.0004, per: 1000, unit: "GET and other requests", source: s3, ...s3ReadAt },
  logGb: { usd: 0.5, per: 1, unit: "GB of log ingested", source: cloudwatch, ...cloudwatchReadAt },
  traces: { usd: 5, per: million, unit: "traces recorded", source: "https://aws.amazon.com/xray/pricing/" },
} as const satisfies Record<string, Price>;

/** What is due every month, whether data comes or not. */
export const monthlyPrices = {
  s3Gb: { usd: 0.023, per: 1, unit: "GB stored in S3", source: s3, ...s3ReadAt },
  tableGb: { usd: 0.25, per: 1, unit: "GB stored in DynamoDB", source: "https://aws.amazon.com/dynamodb/pricing/" },
  recoveryGb: {
    ...{ usd: 0.2, per: 1, unit: "GB of point-in-time recovery" },
    ...{ source: dynamodb, readAt: "not verified: from memory; it is next to nothing" },
  },
  alarms: { usd: 0.1, per: 1, unit: "alarms", source: cloudwatch, ...cloudwatchReadAt },
  dashboards: {
    usd: 3,
    per: 1,
    unit: "dashboards",
    source: cloudwatch,
    readAt: "https://cloudburn.io/blog/amazon-cloudwatch-pricing",
  },
  metrics: { usd: 0.3, per: 1, unit: "custom metrics", source: cloudwatch, ...cloudwatchReadAt },
  queueRequests: {
    ...{ usd: 0.4, per: million, unit: "SQS requests" },
    ...{ source: "https://aws.amazon.com/sqs/pricing/", readAt: "not verified: from memory" },
  },
  secrets: {
    ...{ usd: 0.4, per: 1, unit: "secrets" },
    ...{ source: "https://aws.amazon.com/secrets-manager/pricing/", readAt: "not verified: from memory" },
  },
  keys: {
    ...{ usd: 1, per: 1, unit: "customer-managed KMS keys" },
    ...{ source: "https://aws.amazon.com/kms/pricing/", readAt: "not verified: from memory" },
  },
  /** $0.01 an hour and availability zone. */
  endpoints: {
    ...{ usd: 7.3, per: 1, unit: "interface endpoints (in one zone)" },
    ...{ source: "https://aws.amazon.com/privatelink/pricing/", readAt: "not verified: from memory" },
  },
} as const satisfies Record<string, Price>;

/** Managed Service for Apache Flink. A streaming application pays one more KPU, for orchestration. */
export const flinkPrices = {
  kpuHours: { usd: 0.11, per: 1, unit: "KPU-hours", source: flink, ...flinkReadAt },
  /**
   * 50 GB come with each KPU. AWS's price examples charge them; its own calculator for agents (github.com/aws/agent-toolkit-for-aws, pricing-calculator.md) says that
   * they are included. So both sums are given, and targets are held against the lower one.
   */
  runningStorageGb: { usd: 0.1, per: 1, unit: "GB-months of running storage", source: flink, ...flinkReadAt },
  backupGb: { usd: 0.023, per: 1, unit: "GB-months of durable backups", source: flink, ...flinkReadAt },
} as const satisfies Record<string, Price>;

export const hoursAMonth = 730;
