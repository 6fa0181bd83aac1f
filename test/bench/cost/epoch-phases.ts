import type { Span } from "./charge.ts";
import type { LogEvent } from "./function-logs.ts";

/** A part of an epoch's way from its plan to its end, by one function or by several at once. Times are epoch milliseconds. */
export interface Part extends Span {
  readonly epoch: number;
  readonly phase: string;
}

/** Medians over epochs, in milliseconds. */
export interface Phase {
  readonly phase: string;
  /** From the end of the phase before: what the state machine takes from one state to the next, and what an epoch waits for its turn. */
  readonly waitMs: number;
  readonly tookMs: number;
  /** Of that, while an answer of DynamoDB or S3 was waited for. */
  readonly servicesMs: number;
}

/** Parts of epochs, as functions have logged them. */
export function partsOf(events: readonly LogEvent[]): Part[] {
  return events.flatMap(({ message }) => {
    const line = message.startsWith("{") ? JSON.parse(message) : {};
    if (typeof line.tookMs !== "number") return [];
    const epoch = line.function === "plan" ? line.answer?.process?.epoch : line.epoch;
    const phase = phaseOf(line);
    const to = Date.parse(line.timestamp);
    return epoch === undefined || phase === undefined ? [] : [{ epoch, phase, from: to - line.tookMs, to }];
  });
}

function phaseOf({ function: name, stage, sink }: { function: string; stage?: number; sink?: string }) {
  if (name === "operate") return `operate, stage ${stage}`;
  if (name === "commit") return sink === undefined ? "seal" : "commit";
  return name === "plan" || name === "decide" ? name : undefined;
}

/**
 * The phases of epochs that went by plan: each has those that most have, each once but for tasks and sinks that go side by side.
 *
 * @param requests from when to when an answer of a service was waited for
 */
export function phasesOf(
  parts: readonly Part[],
  requests: readonly Span[],
  isMeasured: (epoch: number) => boolean,
): Phase[] {
  const epochs = [
    ...Map.groupBy(
      parts.filter(({ epoch }) => isMeasured(epoch)),
      ({ epoch }) => epoch,
    ).values(),
  ];
  const whole = epochs.map(spansOf);
  const names = [...(mostCommon(whole.map((spans) => [...spans.keys()].join("\n"))) ?? "").split("\n")];
  const regular = whole.filter((spans) => [...spans.keys()].join("\n") === names.join("\n"));
  if (regular.length === 0) return [];
  return names.map((phase, index) => {
    const before = names[index - 1];
    const its = regular.map((spans) => spans.get(phase)!);
    const waits = regular.map((spans) => (before === undefined ? 0 : spans.get(phase)!.from - spans.get(before)!.to));
    return {
      phase,
      waitMs: median(waits),
      tookMs: median(its.map(({ from, to }) => to - from)),
      servicesMs: median(its.map((span) => covered(span, requests))),
    };
  });
}

/** From the first to the last of a phase's parts, in the order in which they begin. */
function spansOf(parts: readonly Part[]): Map<string, Span> {
  const inOrder = parts.toSorted((one, other) => one.from - other.from || one.to - other.to);
  return new Map(
    [...Map.groupBy(inOrder, ({ phase }) => phase)].map(([phase, its]) => [
      phase,
      { from: its[0]!.from, to: Math.max(...its.map(({ to }) => to)) },
    ]),
  );
}

/** Milliseconds of a span that lie in at least one of others. */
export function covered({ from, to }: Span, others: readonly Span[]): number {
  const within = others.filter((other) => other.to > from && other.from < to);
  let reached = from;
  let sum = 0;
  for (const other of within.toSorted((a, b) => a.from - b.from)) {
    const end = Math.min(to, other.to);
    sum += Math.max(0, end - Math.max(reached, other.from));
    reached = Math.max(reached, end);
  }
  return sum;
}

function mostCommon(texts: readonly string[]): string | undefined {
  const groups = [...Map.groupBy(texts, (text) => text)];
  return groups.toSorted(([, one], [, other]) => other.length - one.length)[0]?.[0];
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
