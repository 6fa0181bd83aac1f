/** Metrics that AWS documents, each with the sets of dimensions that a graph may name: anything else would be an empty graph, and no error. */
interface Documented {
  /** Where they are documented. */
  readonly at: string;
  readonly dimensions: readonly (readonly string[])[];
  readonly metrics: readonly string[];
}

export const documentedMetrics: Readonly<Record<string, readonly Documented[]>> = {
  "AWS/Lambda": [
    {
      at: "https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html",
      dimensions: [["FunctionName"], ["FunctionName", "Resource"], ["ExecutedVersion", "FunctionName", "Resource"], []],
      metrics: [
        ...["Invocations", "Errors", "DeadLetterErrors", "DestinationDeliveryFailures", "Throttles"],
        ...["RecursiveInvocationsDropped", "Duration", "IteratorAge", "OffsetLag", "ConcurrentExecutions"],
        ...["AsyncEventsReceived", "AsyncEventAge", "AsyncEventsDropped"],
      ],
    },
  ],
  "AWS/States": [
    {
      at: "https://docs.aws.amazon.com/step-functions/latest/dg/procedure-cw-metrics.html",
      dimensions: [["StateMachineArn"]],
      metrics: [
        ...["ExecutionTime", "ExecutionThrottled", "ExecutionsAborted", "ExecutionsFailed", "ExecutionsStarted"],
        ...["ExecutionsSucceeded", "ExecutionsTimedOut"],
      ],
    },
    {
      at: "https://docs.aws.amazon.com/step-functions/latest/dg/procedure-cw-metrics.html",
      dimensions: [["ServiceMetric"]],
      metrics: ["ThrottledEvents", "ProvisionedBucketSize", "ProvisionedRefillRate", "ConsumedCapacity"],
    },
  ],
  "AWS/DynamoDB": [
    {
      at: "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html",
      dimensions: [["TableName"], ["GlobalSecondaryIndexName", "TableName"]],
      metrics: [
        ...["ConditionalCheckFailedRequests", "ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"],
        ...["ReadThrottleEvents", "WriteThrottleEvents"],
      ],
    },
    {
      at: "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html",
      dimensions: [["Operation", "TableName"]],
      metrics: ["SuccessfulRequestLatency", "SystemErrors", "ThrottledRequests", "ReturnedItemCount"],
    },
  ],
  "AWS/S3": [
    {
      at: "https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html",
      dimensions: [["BucketName", "StorageType"]],
      metrics: ["BucketSizeBytes", "NumberOfObjects"],
    },
    {
      // Only where a bucket has a metrics configuration, which is what FilterId names.
      at: "https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html",
      dimensions: [["BucketName", "FilterId"]],
      metrics: [
        "AllRequests",
        "GetRequests",
        "PutRequests",
        "DeleteRequests",
        "ListRequests",
        "4xxErrors",
        "5xxErrors",
      ],
    },
  ],
  "AWS/SQS": [
    {
      at: "https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html",
      dimensions: [["QueueName"]],
      metrics: [
        ...["ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesDelayed"],
        ...["ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesVisible", "NumberOfEmptyReceives"],
        ...["NumberOfMessagesDeleted", "NumberOfMessagesReceived", "NumberOfMessagesSent", "SentMessageSize"],
      ],
    },
  ],
  "AWS/Events": [
    {
      at: "https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html",
      dimensions: [["RuleName"], ["EventBusName", "RuleName"]],
      metrics: [
        "DeadLetterInvocations",
        "FailedInvocations",
        "Invocations",
        "MatchedEvents",
        "TriggeredRules",
        "ThrottledRules",
      ],
    },
  ],
};
