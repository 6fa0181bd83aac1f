import { flinkPrices, hoursAMonth, monthlyPrices, type Price, usagePrices } from "./prices.ts";
import { type Usage, type UsageKind, usageKinds } from "./usage.ts";

export type FixedKind = keyof typeof monthlyPrices;

/** What is due every month. */
export type Fixed = Readonly<Partial<Record<FixedKind, number>>>;

export const usd = ({ usd, per }: Price, number: number): number => (usd * number) / per;

/** Dollars by what they are for. */
export function bill(usage: Usage): Readonly<Record<UsageKind, number>> {
  return Object.fromEntries(usageKinds.map((kind) => [kind, usd(usagePrices[kind], usage[kind])])) as Record<
    UsageKind,
    number
  >;
}

export function total(dollars: Readonly<Record<string, number>>): number {
  return Object.values(dollars).reduce((sum, each) => sum + each, 0);
}

export function monthlyBill(fixed: Fixed): Readonly<Partial<Record<FixedKind, number>>> {
  return Object.fromEntries(
    Object.entries(fixed).map(([kind, number]) => [kind, usd(monthlyPrices[kind as FixedKind], number)]),
  );
}

const gbOfKpu = 50;

/** Dollars an hour of the smallest application of Managed Service for Apache Flink: one KPU, and the one for orchestration. */
export const smallestFlink = {
  /** Of KPUs alone; targets are held against this. */
  hourly: usd(flinkPrices.kpuHours, 2),
  hourlyWithStorage: usd(flinkPrices.kpuHours, 2) + usd(flinkPrices.runningStorageGb, gbOfKpu) / hoursAMonth,
};

/** Lambda polls a queue by so many long polls of 20 seconds at once, at the least. */
const pollsAtOnce = 5;
const queueRequestsAMonth = (pollsAtOnce * (hoursAMonth * 3600)) / 20;

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
}

const mapping = "AWS::Lambda::EventSourceMapping";
const isOfTopic = (properties: Resource["Properties"]) => properties?.Topics !== undefined;

/** The parts of a stack that cost something though nothing happens. */
export function fixedPartsOf({ Resources }: Template, metrics: number): Fixed {
  const resources = Object.values(Resources);
  const count = (type: string) => resources.filter(({ Type }) => Type === type).length;
  const queues = resources.filter(({ Type, Properties }) => Type === mapping && !isOfTopic(Properties));
  return {
    metrics,
    alarms: count("AWS::CloudWatch::Alarm"),
    dashboards: count("AWS::CloudWatch::Dashboard"),
    queueRequests: queues.length * queueRequestsAMonth,
    secrets: count("AWS::SecretsManager::Secret"),
    keys: count("AWS::KMS::Key"),
    endpoints: resources.filter(({ Properties }) => Properties?.VpcEndpointType === "Interface").length,
  };
}
