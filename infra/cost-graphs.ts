import { Duration } from "aws-cdk-lib";
import { type IMetric, MathExpression, Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { CfnFunction } from "aws-cdk-lib/aws-lambda";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import { functionNames } from "./bundle.ts";
import type { DashboardOptions } from "./dashboard.ts";
import type { PipelineFunctions } from "./functions.ts";
import { type Graph, period } from "./graphs.ts";

/** What drives the bill, by the hour. */
export function costGraphs({ pipeline, functions, table, bucket }: DashboardOptions): Graph[] {
  const transitions = pipeline.metricStateTransitions({ period });
  return [
    {
      title: "Cost: Step Functions",
      left: [perHour("state transitions", "transitions", { transitions })],
      unit: "Transitions an hour",
    },
    { title: "Cost: Lambda", left: [gigabyteSeconds(functions)], unit: "GB-seconds an hour" },
    {
      title: "Cost: DynamoDB",
      left: [
        perHour("read request units", "reads", { reads: table.metricConsumedReadCapacityUnits({ period }) }),
        perHour("write request units", "writes", { writes: table.metricConsumedWriteCapacityUnits({ period }) }),
      ],
      unit: "Request units an hour",
    },
    {
      title: "Cost: S3 storage, two weeks",
      start: "-P14D",
      left: [storage(bucket, "BucketSizeBytes", "StandardStorage", "bytes")],
      unit: "Bytes",
      right: [storage(bucket, "NumberOfObjects", "AllStorageTypes", "objects")],
      rightYAxis: { label: "Objects", min: 0, showUnits: false },
    },
  ];
}

/** Whatever period a graph has: a longer time is shown in longer periods. */
function perHour(label: string, total: string, usingMetrics: Record<string, IMetric>): MathExpression {
  const [first] = Object.keys(usingMetrics);
  return new MathExpression({ label, expression: `(${total}) / PERIOD(${first}) * 3600`, usingMetrics, period });
}

/** The time of each function, by its memory. */
function gigabyteSeconds(functions: PipelineFunctions): MathExpression {
  const durations = functionNames.map(
    (name) => [name, functions[name].metricDuration({ statistic: "Sum", period })] as const,
  );
  const terms = functionNames.map((name) => {
    const { memorySize = 128 } = functions[name].node.defaultChild as CfnFunction;
    return `FILL(${name}, 0) * ${memorySize / 1024}`;
  });
  return perHour("GB-seconds", `(${terms.join(" + ")}) / 1000`, Object.fromEntries(durations));
}

/** S3 tells once a day; what it tells of requests costs as much as they do. */
function storage(bucket: IBucket, metricName: string, StorageType: string, label: string): Metric {
  const dimensionsMap = { BucketName: bucket.bucketName, StorageType };
  return new Metric({
    namespace: "AWS/S3",
    metricName,
    dimensionsMap,
    statistic: "Average",
    period: Duration.days(1),
    label,
  });
}
