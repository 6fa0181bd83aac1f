import { Duration, Stack } from "aws-cdk-lib";
import { type Alarm, AlarmStatusWidget, Dashboard, type IMetric, TextWidget } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { IQueue } from "aws-cdk-lib/aws-sqs";
import type { IStateMachine } from "aws-cdk-lib/aws-stepfunctions";
import type { Construct } from "constructs";
import type { Topology } from "../shared/pipeline/topology.ts";
import type { PipelineAlarms } from "./alarms.ts";
import { type FunctionName, functionNames } from "./bundle.ts";
import { costGraphs } from "./cost-graphs.ts";
import type { PipelineFunctions } from "./functions.ts";
import { columns, type Graph, period, row } from "./graphs.ts";
import type { MeasuredPipeline, MetricName } from "./metrics.ts";

export interface DashboardOptions {
  readonly pipeline: MeasuredPipeline;
  readonly topology: Topology;
  readonly functions: PipelineFunctions;
  readonly stateMachine: IStateMachine;
  readonly table: ITable;
  readonly bucket: IBucket;
  readonly deadLetterQueues: readonly IQueue[];
  readonly alarms: PipelineAlarms;
}

/** What it does and what it costs, row by row. */
export function dashboard(scope: Construct, options: DashboardOptions): Dashboard {
  return new Dashboard(scope, "Dashboard", {
    defaultInterval: Duration.hours(3),
    widgets: [
      [heading(options)],
      [new AlarmStatusWidget({ title: "Alarms", alarms: listOf(options.alarms), width: columns, height: 3 })],
      row(lagGraphs(options)),
      row(recordGraphs(options)),
      row(epochGraphs(options)),
      row(functionGraphs(options)),
      row(costGraphs(options)),
    ],
  });
}

function heading({ pipeline, stateMachine }: DashboardOptions): TextWidget {
  const { region } = Stack.of(pipeline);
  const executions = `https://${region}.console.aws.amazon.com/states/home?region=${region}#/statemachines/view/${stateMachine.stateMachineArn}`;
  return new TextWidget({
    markdown: [
      `# ${pipeline.pipelineName}`,
      `[Executions](${executions}) · exact counts: \`epochflow status --stack ${Stack.of(pipeline).stackName}\`. While no data comes, the graphs are empty.`,
    ].join("\n"),
    width: columns,
    height: 2,
  });
}

const listOf = ({ deadLetters, ...others }: PipelineAlarms): Alarm[] => [...Object.values(others), ...deadLetters];

/** Only records of Kafka tell when they were written. */
function lagGraphs({ pipeline, topology: { nodes } }: DashboardOptions): Graph[] {
  const isKafka = nodes.some((node) => node.kind === "source" && node.source.kind === "kafka");
  const age: Graph = {
    title: "Lag in time",
    left: [pipeline.metricTimeLag({ label: "age of the oldest record read", period })],
    unit: "Seconds",
  };
  return [
    { title: "Lag", left: [pipeline.metricLag({ label: "not decided", period })], unit: isKafka ? "Records" : "Bytes" },
    ...(isKafka ? [age] : []),
    {
      title: "Watermark delay",
      left: [pipeline.metricWatermarkDelay({ label: "behind the clock", period })],
      unit: "Seconds",
    },
  ];
}

function recordGraphs({ pipeline }: DashboardOptions): Graph[] {
  const of = (name: MetricName, label: string) => pipeline.metric(name, { label, period });
  return [
    {
      title: "Records in, rows out",
      left: [of("RecordsIn", "records in"), of("RowsOut", "rows out")],
      unit: "Records",
    },
    {
      title: "Records that are in no result",
      left: [
        of("LateRecords", "late"),
        of("DeadLetteredRecords", "dead-lettered"),
        of("SkippedRecords", "skipped"),
        of("RowsLost", "rows that may be lost (at-most-once)"),
        of("TasksLost", "tasks that are lost (at-most-once)"),
      ],
      unit: "Records",
    },
    { title: "State", left: [of("StateBytes", "snapshots, before compression")], unit: "Bytes" },
  ];
}

function epochGraphs({ pipeline }: DashboardOptions): Graph[] {
  const of = (name: MetricName, label: string) => pipeline.metric(name, { label, period });
  return [
    {
      title: "Epochs",
      left: [
        of("EpochsDecided", "decided"),
        of("EpochsCommitted", "committed"),
        of("AttemptsAborted", "attempts aborted"),
      ],
      unit: "Epochs",
    },
    {
      title: "An epoch's phases",
      left: [
        of("StartDuration", "plan to first task"),
        of("OperateDuration", "tasks"),
        of("DecideDuration", "last task to decision"),
        of("CommitDuration", "decision to commit"),
      ],
      stacked: true,
      unit: "Milliseconds, average",
    },
    {
      title: "Commits that fail",
      left: [of("CommitFailures", "failures, tried again")],
      unit: "Failures",
      right: [of("UncommittedAge", "age of what is not committed")],
      rightYAxis: { label: "Seconds", min: 0, showUnits: false },
    },
  ];
}

function functionGraphs({ pipeline, functions, stateMachine, deadLetterQueues }: DashboardOptions): Graph[] {
  const each = (metricOf: (name: FunctionName) => IMetric) => functionNames.map(metricOf);
  return [
    {
      title: "Errors of functions",
      left: each((name) => functions[name].metricErrors({ label: name, period })),
      unit: "Errors",
    },
    {
      title: "Throttles of functions",
      left: each((name) => functions[name].metricThrottles({ label: name, period })),
      unit: "Throttles",
    },
    {
      title: "Wake-ups and executions",
      left: [
        pipeline.metric("Wakes", { label: "wake-ups", period }),
        stateMachine.metricStarted({ label: "executions started", period }),
        stateMachine.metricFailed({ label: "failed", period }),
        stateMachine.metricTimedOut({ label: "timed out", period }),
        stateMachine.metricAborted({ label: "stopped by hand", period }),
      ],
      unit: "Count",
    },
    {
      title: "Dead letters of wake-ups",
      left: deadLetterQueues.map((queue) =>
        queue.metricApproximateNumberOfMessagesVisible({ label: queue.node.id, period }),
      ),
      unit: "Messages",
    },
  ];
}
