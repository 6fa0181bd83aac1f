import type { Charge, Span } from "./charge.ts";

/** A line that a function's log group got. */
export interface LogEvent {
  /** Epoch milliseconds. */
  readonly timestamp: number;
  readonly message: string;
}

export interface Invocation {
  /** Epoch milliseconds. */
  readonly endedAt: number;
  readonly billedMs: number;
  readonly memoryMb: number;
}

const reportLine = /^REPORT RequestId: (\S+)\s+Duration: ([\d.]+) ms\s+.*Memory Size: (\d+) MB/;

/**
 * Invocations by the REPORT lines of a log group. The duration is the one that the handler itself has logged (`tookMs`), where it did, for the emulator's contains
 * its own overhead; rounded up to a millisecond, as AWS does.
 */
export function invocationsOf(events: readonly LogEvent[]): Invocation[] {
  const tookMs = new Map<string, number>();
  for (const { message } of events) {
    const line = parsed(message);
    if (typeof line?.tookMs === "number") tookMs.set(String(line.function_request_id), line.tookMs);
  }
  return events.flatMap(({ timestamp, message }) => {
    const [, request, duration, memory] = reportLine.exec(message) ?? [];
    if (request === undefined) return [];
    const billedMs = Math.max(1, Math.ceil(tookMs.get(request) ?? Number(duration)));
    return [{ endedAt: timestamp, billedMs, memoryMb: Number(memory) }];
  });
}

/** GB-seconds of those parts of invocations that lie between two moments. */
export function gbSecondsBetween(invocations: readonly Invocation[], from: number, to: number): number {
  return invocations.reduce((sum, { endedAt, billedMs, memoryMb }) => {
    const ms = Math.max(0, Math.min(to, endedAt) - Math.max(from, endedAt - billedMs));
    return sum + (memoryMb / 1024) * (ms / 1000);
  }, 0);
}

/** What a function is charged for: invocations, the part of their time that lies within the measured one, and its log. */
export function chargesOfFunction(name: string, events: readonly LogEvent[], span: Span): Charge[] {
  const invocations = invocationsOf(events);
  const [first] = invocations;
  if (first === undefined) return [];
  return [
    ...invocations.map(({ endedAt }) => ({
      at: endedAt,
      what: `invocation of ${name}`,
      usage: { lambdaRequests: 1, traces: name === "trigger" ? 1 : 0 },
    })),
    // As one charge, since an invocation may last longer than the time that is measured.
    {
      at: span.to,
      what: `duration of ${name} (${first.memoryMb} MB)`,
      usage: { lambdaGbSeconds: gbSecondsBetween(invocations, span.from, span.to) },
    },
    ...events.map((event) => ({
      at: event.timestamp,
      what: `log of ${name}`,
      usage: { logGb: ingestedBytes([event]) / 1e9 },
    })),
  ];
}

/** CloudWatch adds so much to each line that it ingests. */
const lineOverhead = 26;

export function ingestedBytes(events: readonly LogEvent[]): number {
  return events.reduce((sum, { message }) => sum + Buffer.byteLength(message) + lineOverhead, 0);
}

/** Custom metrics that lines in the embedded metric format make: one for each name and set of dimensions' values. */
export function metricsOf(events: readonly LogEvent[]): Set<string> {
  const metrics = new Set<string>();
  for (const { message } of events) {
    const line = parsed(message);
    for (const { Namespace, Dimensions, Metrics } of line?._aws?.CloudWatchMetrics ?? [])
      for (const dimensions of Dimensions)
        for (const { Name } of Metrics)
          metrics.add(JSON.stringify([Namespace, Name, dimensions.map((name: string) => [name, line[name]])]));
  }
  return metrics;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever a program logs
function parsed(message: string): any {
  if (!message.startsWith("{")) return undefined;
  try {
    return JSON.parse(message);
  } catch {
    return undefined;
  }
}
