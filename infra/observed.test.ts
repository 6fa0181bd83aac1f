/** Dashboard and alarms: every metric on them is one that somebody emits, and people can read them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Duration, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { documentedMetrics } from "../test/support/documented-metrics.ts";
import { emittedMetrics, lives, losingLife, type MetricsLine } from "../test/support/emitted-metrics.ts";
import { quickApp } from "../test/support/template.ts";
import { Kafka, StreamPipeline, type StreamPipelineProps } from "./index.ts";

function stackOf(
  props: Partial<StreamPipelineProps> = {},
  topicOf = (stack: Stack): ITopic | undefined => new Topic(stack, "Topic"),
) {
  const stack = new Stack(quickApp(), "stack");
  const parameters = { input: "s3://data/input/", output: "s3://data/output" };
  const alarmTopic = topicOf(stack);
  const pipeline = new StreamPipeline(stack, "Words", {
    ...{ entry: "examples/word-count.ts", parameters, ...props },
    ...(alarmTopic && { alarmTopic }),
  });
  return { pipeline, stack, template: Template.fromStack(stack) };
}

/** A pipeline from topic to topic. */
const ofTopics: Partial<StreamPipelineProps> = {
  entry: "examples/word-count-kafka.ts",
  parameters: { input: "lines", output: "counts" },
  kafka: Kafka.selfManaged({
    bootstrapServers: "broker:9092",
    secret: Secret.fromSecretNameV2(new Stack(), "Secret", "kafka"),
  }),
};

interface ShownMetric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, unknown>>;
}

interface Widget {
  readonly type: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly properties: {
    readonly title?: string;
    readonly metrics?: readonly (readonly unknown[])[];
    readonly yAxis?: Readonly<Record<string, { readonly label?: string }>>;
  };
}

function widgetsOf(template: Template): Widget[] {
  const [{ Properties }] = Object.values(template.findResources("AWS::CloudWatch::Dashboard")) as [
    { Properties: { DashboardBody: { "Fn::Join": [string, unknown[]] } } },
  ];
  const [, parts] = Properties.DashboardBody["Fn::Join"];
  return JSON.parse(parts.map((part) => (typeof part === "string" ? part : "token")).join("")).widgets;
}

/** `[namespace, name, dimension, value, …, options]`; an expression has options alone. */
function shownIn({ properties }: Widget): ShownMetric[] {
  return (properties.metrics ?? []).flatMap((line) => {
    const [namespace, name, ...rest] = line.filter((part) => typeof part === "string") as string[];
    if (namespace === undefined || name === undefined) return [];
    const dimensions = Object.fromEntries(
      Array.from({ length: rest.length / 2 }, (_, at) => rest.slice(2 * at, 2 * at + 2)),
    );
    return [{ namespace, name, dimensions }];
  });
}

interface AlarmMetric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions: readonly { readonly Name: string; readonly Value: unknown }[];
}

const alarmsOf = (template: Template) =>
  Object.values(template.findResources("AWS::CloudWatch::Alarm")).map(({ Properties }) => Properties);

function watchedBy(alarm: ReturnType<typeof alarmsOf>[number]): ShownMetric[] {
  const listed: { MetricStat?: { Metric: AlarmMetric } }[] = alarm.Metrics ?? [];
  const metrics = listed.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : []));
  return (alarm.MetricName === undefined ? metrics : [alarm as AlarmMetric]).map((metric) => ({
    namespace: metric.Namespace,
    name: metric.MetricName,
    dimensions: Object.fromEntries(metric.Dimensions.map(({ Name, Value }) => [Name, Value])),
  }));
}

const allOf = (template: Template): ShownMetric[] => [
  ...widgetsOf(template).flatMap(shownIn),
  ...alarmsOf(template).flatMap(watchedBy),
];

function isDocumented({ namespace, name, dimensions }: ShownMetric): boolean {
  const set = Object.keys(dimensions).sort().join();
  return (documentedMetrics[namespace] ?? []).some(
    (documented) => documented.metrics.includes(name) && documented.dimensions.some((one) => one.join() === set),
  );
}

test("every metric on dashboard and alarms is one that a run emits, or that AWS documents", async () => {
  const shown = [stackOf(), stackOf(ofTopics)].flatMap(({ template }) => allOf(template));
  const [ours, foreign] = [true, false].map((our) =>
    shown.filter(({ namespace }) => (namespace === "epochflow") === our),
  );
  assert.ok(ours!.length > 20 && foreign!.length > 30);
  const lines: MetricsLine[] = [];
  for (const life of [...lives, losingLife]) lines.push(...(await emittedMetrics(life)));
  const definitions = lines.flatMap(({ _aws }) => _aws.CloudWatchMetrics);
  const emitted = new Set(definitions.flatMap(({ Metrics }) => Metrics.map(({ Name }) => Name)));
  for (const { name, dimensions } of ours!) {
    assert.ok(emitted.has(name), `nobody emits ${name}`);
    assert.match(String(dimensions.service), /^word-count(-kafka)?$/);
    assert.equal(Object.keys(dimensions).length, 1);
  }
  assert.deepEqual(
    foreign!.filter((metric) => !isDocumented(metric)),
    [],
  );
});

test("a metric that is not documented, or not by these dimensions, is found", () => {
  const errors = { namespace: "AWS/Lambda", name: "Errors", dimensions: { FunctionName: "f" } };
  assert.ok(isDocumented(errors));
  assert.ok(!isDocumented({ ...errors, name: "Error" }));
  assert.ok(!isDocumented({ ...errors, dimensions: { Function: "f" } }));
});

test("no widget lies on another, or beyond the grid; every graph says what it shows, and in what", () => {
  const widgets = widgetsOf(stackOf().template);
  const cells = new Map<string, string>();
  for (const { x, y, width, height, type, properties } of widgets) {
    const title = properties.title ?? type;
    assert.ok(Number.isInteger(width) && x + width <= 24, title);
    for (let column = x; column < x + width; column++)
      for (let row = y; row < y + height; row++) {
        const cell = `${column},${row}`;
        assert.equal(cells.get(cell), undefined, `${title} lies on ${cells.get(cell)}`);
        cells.set(cell, title);
      }
    if (type !== "metric") continue;
    assert.ok(properties.title && Object.values(properties.yAxis ?? {}).every(({ label }) => label), title);
    for (const metric of properties.metrics ?? [])
      assert.ok((metric.at(-1) as { label?: string; visible?: boolean }).label || isHidden(metric), title);
  }
  const bottom = Math.max(...widgets.map(({ y, height }) => y + height));
  assert.equal(cells.size, 24 * bottom, "there are holes");
  const titles = widgets.map(({ properties }) => properties.title).filter((title) => title !== undefined);
  assert.equal(new Set(titles).size, titles.length);
});

const isHidden = (metric: readonly unknown[]) => (metric.at(-1) as { visible?: boolean }).visible === false;

test("lag of topics is in records and in time, lag of files in bytes; each has its queues of dead letters", () => {
  const lags = (template: Template) =>
    widgetsOf(template)
      .map(({ properties }) => [properties.title, properties.yAxis?.left?.label])
      .filter(([title]) => title?.startsWith("Lag"));
  const topics = stackOf(ofTopics).template;
  assert.deepEqual(lags(topics), [
    ["Lag", "Records"],
    ["Lag in time", "Seconds"],
  ]);
  const files = stackOf().template;
  assert.deepEqual(lags(files), [["Lag", "Bytes"]]);
  const queues = (template: Template) => allOf(template).filter(({ namespace }) => namespace === "AWS/SQS").length;
  assert.deepEqual([queues(files), queues(topics)], [2, 4]);
});

test("an idle pipeline does not ring; each alarm says what it means and the way out, and tells the topic", () => {
  const { template } = stackOf();
  const alarms = alarmsOf(template);
  const missing = Object.groupBy(alarms, ({ TreatMissingData }) => TreatMissingData);
  const names = (those: typeof alarms = []) =>
    those
      .flatMap(watchedBy)
      .map(({ name }) => name)
      .sort();
  // What is told while something is wrong only, or while something is done only.
  assert.deepEqual(names(missing.notBreaching), [
    "Errors",
    "Errors",
    "Errors",
    "FailuresInARow",
    "LagGrowth",
    "UncommittedAge",
  ]);
  // What stays as it is, whether it is told or not.
  assert.deepEqual(names(missing.ignore), ["ApproximateNumberOfMessagesVisible", "Stopped"]);
  // What is told also when nothing comes: as long as there is a heartbeat.
  assert.deepEqual(names(missing.breaching), ["Wakes"]);
  assert.deepEqual(names(alarmsOf(stackOf({ heartbeat: "off" }).template)).includes("Wakes"), false);
  for (const { AlarmDescription, AlarmActions, OKActions } of alarms) {
    assert.match(AlarmDescription, /^Pipeline word-count: [A-Z].+\. [A-Z].+\.$/);
    assert.ok(AlarmDescription.length <= 1024);
    assert.deepEqual([AlarmActions.length, OKActions], [1, AlarmActions]);
  }
});

test("alarms look back no longer than CloudWatch does, whatever the heartbeat", () => {
  for (const heartbeat of [Duration.minutes(1), Duration.minutes(90), Duration.hours(24), Duration.days(7)])
    for (const { Period, EvaluationPeriods, Metrics } of alarmsOf(stackOf({ heartbeat }).template)) {
      const seconds: number =
        Period ?? Metrics.find((one: { MetricStat?: object }) => one.MetricStat).MetricStat.Period;
      assert.equal(seconds % 60, 0);
      assert.ok(seconds * EvaluationPeriods <= (seconds < 3600 ? 1 : 7) * 86_400, `${seconds} s`);
    }
});

test("without topic and dashboard", () => {
  const { template } = stackOf({ dashboard: false }, () => undefined);
  template.resourceCountIs("AWS::CloudWatch::Dashboard", 0);
  assert.ok(alarmsOf(template).every(({ AlarmActions }) => AlarmActions === undefined));
});

test("a pipeline's metrics, as those of other constructs", () => {
  const { pipeline } = stackOf();
  const { namespace, metricName, dimensions, statistic, period, label } = pipeline.metricLag({ label: "behind" });
  assert.deepEqual([namespace, metricName, dimensions], ["epochflow", "Lag", { service: "word-count" }]);
  assert.deepEqual([statistic, period.toMinutes(), label], ["Maximum", 5, "behind"]);
  const { metricRecordsIn, metricEpochDuration } = pipeline;
  assert.deepEqual(
    [metricRecordsIn, metricEpochDuration].map((of) => of.call(pipeline).statistic),
    ["Sum", "Average"],
  );
  assert.equal(pipeline.metricLag({ statistic: "Minimum" }).statistic, "Minimum");
});
