import { formatTable } from "../../../examples/support/table.ts";
import { bill, type FixedKind, monthlyBill, smallestFlink, total } from "./bill.ts";
import type { Phase } from "./epoch-phases.ts";
import type { Measurement } from "./measure.ts";
import { hoursAMonth, monthlyPrices } from "./prices.ts";
import { byService, requestsOf } from "./requests.ts";
import { scale, sum, type Usage, usageKinds } from "./usage.ts";

/** A measurement in dollars, and compared. */
export function figuresOf({ drivers, ...measured }: Measurement) {
  const usage = sum(drivers.map((driver) => driver.usage));
  const perEpoch = scale(usage, 1 / measured.epochs);
  const secondsEach = measured.seconds / measured.epochs;
  const epochsAnHour = 3600 / (measured.intervalSeconds || secondsEach);
  const hourly = scale(perEpoch, epochsAnHour);
  const dollarsAnHour = total(bill(hourly));
  const fixed = monthlyBill(measured.fixed);
  const dear = drivers.map((driver) => ({
    what: driver.what,
    timesAnEpoch: driver.times / measured.epochs,
    dollarsAnHour: total(bill(scale(driver.usage, epochsAnHour / measured.epochs))),
  }));
  return {
    ...measured,
    epochsASecond: 1 / secondsEach,
    requestsAnEpoch: requestsOf(drivers, measured.epochs),
    perEpoch,
    perMillionRecords: scale(usage, 1e6 / measured.records),
    dollarsPerMillionRecords: total(bill(scale(usage, 1e6 / measured.records))),
    dollarsAnHourByKind: bill(hourly),
    dollarsAnHour,
    ofFlink: dollarsAnHour / smallestFlink.hourly,
    fixedDollarsAMonth: fixed,
    ofFlinkWithFixed: (dollarsAnHour + total(fixed) / hoursAMonth) / smallestFlink.hourly,
    drivers: dear.sort((one, other) => other.dollarsAnHour - one.dollarsAnHour),
  };
}

export type Figures = ReturnType<typeof figuresOf>;

const labels: Readonly<Record<keyof Usage, string>> = {
  stateTransitions: "transitions",
  lambdaRequests: "invocations",
  lambdaGbSeconds: "GB-s",
  writeUnits: "write units",
  readUnits: "read units",
  s3Puts: "S3 PUTs",
  s3Gets: "S3 GETs",
  logGb: "log KB",
  traces: "traces",
};

export function report(all: readonly Figures[]): string {
  const { hourly, hourlyWithStorage } = smallestFlink;
  return [
    "What an epoch asks for: state transitions, and requests by service and kind",
    formatTable(requestRows(all)),
    ...all.map((one) => `Where an epoch's time goes: ${titleOf(one)}, ${speedOf(one)}\n\n${phasesTable(one)}`),
    "What an epoch uses",
    formatTable(
      all.map((one) => ({
        epochs: titleOf(one),
        measured: String(one.epochs),
        "s each": fixed(one.seconds / one.epochs, 2),
        ...uses(one.perEpoch),
      })),
    ),
    "What a million records use",
    formatTable(
      all.map((one) => ({
        epochs: titleOf(one),
        ...uses(one.perMillionRecords),
        dollars: fixed(one.dollarsPerMillionRecords, 3),
      })),
    ),
    "Dollars an hour of a pipeline that is always busy",
    formatTable(
      all.map((one) => ({
        epochs: titleOf(one),
        ...dollars(one),
        total: fixed(one.dollarsAnHour, 4),
        "of Flink": percent(one.ofFlink),
      })),
    ),
    `Flink is the smallest application of Managed Service for Apache Flink: $${fixed(hourly, 4)} an hour; $${fixed(hourlyWithStorage, 4)} with its running storage.`,
    ...all.flatMap(targetLine),
    fixedParts(all[0]!),
    ...all.map((one) => `Where the money goes: ${titleOf(one)}\n\n${driversTable(one)}`),
  ].join("\n\n");
}

const speedOf = ({ epochsASecond }: Figures): string => `${significant(epochsASecond)} epochs a second`;

function requestRows(all: readonly Figures[]): Record<string, string>[] {
  const kinds = [...new Set(all.flatMap(({ requestsAnEpoch }) => Object.keys(requestsAnEpoch)))].sort(byService);
  const count = ({ requestsAnEpoch }: Figures, kind: string) => significant(requestsAnEpoch[kind] ?? 0);
  return kinds.map((kind) => ({ kind, ...Object.fromEntries(all.map((one) => [titleOf(one), count(one, kind)])) }));
}

function phasesTable({ phases }: Figures): string {
  const ms = (value: number) => fixed(value, 0);
  const sum = (of: (phase: Phase) => number) => phases.reduce((total, phase) => total + of(phase), 0);
  const all = { phase: "in all", waitMs: sum((one) => one.waitMs), tookMs: sum((one) => one.tookMs) };
  return formatTable(
    [...phases, { ...all, servicesMs: sum((one) => one.servicesMs) }].map(({ phase, waitMs, tookMs, servicesMs }) => ({
      phase,
      "ms until it begins": ms(waitMs),
      "ms that it takes": ms(tookMs),
      "of them for DynamoDB and S3": ms(servicesMs),
    })),
  );
}

/** Of a fused pipeline, by seconds between epochs: the share of Flink's cost that it may have. */
const targets: Readonly<Record<number, number>> = { 1: 1, 10: 0.5 };

function targetLine(one: Figures): string[] {
  const target = one.fused ? targets[one.intervalSeconds] : undefined;
  if (target === undefined) return [];
  const verdict = one.ofFlink <= target ? "met" : "missed";
  return [`The target of epochs of ${titleOf(one)}, at most ${percent(target)} of Flink, is ${verdict}.`];
}

export function titleOf({ intervalSeconds, fused }: Pick<Figures, "intervalSeconds" | "fused">): string {
  return `${intervalSeconds} s, ${fused ? "fused" : "not fused"}`;
}

function uses(usage: Usage): Record<string, string> {
  return Object.fromEntries(
    usageKinds.map((kind) => [labels[kind], significant(kind === "logGb" ? usage[kind] * 1e6 : usage[kind])]),
  );
}

function dollars({ dollarsAnHourByKind }: Figures): Record<string, string> {
  return Object.fromEntries(
    usageKinds.map((kind) => [kind === "logGb" ? "logs" : labels[kind], fixed(dollarsAnHourByKind[kind], 4)]),
  );
}

function fixedParts({ fixed: numbers, fixedDollarsAMonth }: Figures): string {
  const due = Object.entries(fixedDollarsAMonth).filter(([, dollars]) => dollars > 0) as [FixedKind, number][];
  const parts = due.map(
    ([kind, dollars]) => `${grouped(numbers[kind]!)} ${monthlyPrices[kind].unit} $${fixed(dollars, 2)}`,
  );
  return `Besides, a month, whether data comes or not: $${fixed(total(fixedDollarsAMonth), 2)} (${parts.join(", ")})`;
}

const mostDrivers = 15;

function driversTable({ drivers, dollarsAnHour }: Figures): string {
  return formatTable(
    drivers.slice(0, mostDrivers).map((driver) => ({
      what: driver.what,
      "times an epoch": significant(driver.timesAnEpoch),
      "$ an hour": fixed(driver.dollarsAnHour, 5),
      share: percent(driver.dollarsAnHour / dollarsAnHour),
    })),
  );
}

const fixed = (value: number, digits: number): string => value.toFixed(digits);
const percent = (share: number): string => `${Math.round(share * 100)} %`;
const grouped = (value: number): string => Math.round(value).toLocaleString("en");

function significant(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}
