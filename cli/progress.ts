import type { WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import type { Progress } from "../local/options.ts";
import { formatBytes, formatClock, formatCounted, formatInstant, formatOffsets } from "./format.ts";
import { say, style } from "./report.ts";

/** What a run shows while it is at work. */
export interface ProgressView {
  update(progress: Progress): void;
  /** A line of text above the bar, to stay. */
  note(text: string): void;
  /** Takes the bar away. */
  end(): void;
}

export function progressView(pipeline: string): ProgressView {
  const isTerminal = process.stderr.isTTY === true && process.env.TERM !== "dumb";
  return isTerminal ? terminalView(pipeline, process.stderr) : plainView();
}

/** A bar of two lines at the bottom, drawn anew in place. */
function terminalView(pipeline: string, terminal: WriteStream): ProgressView {
  let first: Progress | undefined;
  let bar = "";
  // Without automatic margins a line that is longer than a terminal that just shrank cannot break the bar's shape.
  const draw = (text: string): void => void terminal.write(`\x1b[?7l${clear(bar)}${text}\x1b[?7h`);
  return {
    update(progress) {
      first ??= progress;
      const next = renderBar(pipeline, progress, first, terminal.columns || 80).join("\n");
      draw(next);
      bar = next;
    },
    note(text) {
      terminal.write(`${clear(bar)}${text}\n${bar}`);
    },
    end() {
      terminal.write(clear(bar));
      bar = "";
    },
  };
}

/** To the start of the bar's first line, and nothing below. */
function clear(bar: string): string {
  return bar === "" ? "" : `\r\x1b[1A\x1b[J`;
}

/** Off a terminal: now and then a line. */
function plainView(everyMs = 10_000): ProgressView {
  let first: Progress | undefined;
  let said = 0;
  return {
    update(progress) {
      first ??= progress;
      if (progress.elapsedMs - said < everyMs) return;
      said = progress.elapsedMs;
      say([percentOf(progress).trim(), ...counts(progress), ...remaining(progress, first)].join(", "));
    },
    note: say,
    end() {},
  };
}

const longestBar = 40;
/** Room for `100%  1:02:03, about 1:02:03 left`, so that the bar keeps its length while the text after it grows. */
const tailRoom = 33;

/**
 * Name, bar, share, time so far and to go; below it what was read, what is left, epochs and watermark. What does not fit into the columns is left
 * out from the end.
 */
export function renderBar(pipeline: string, progress: Progress, first: Progress, columns: number): [string, string] {
  const room = columns - 1;
  const times = [formatClock(progress.elapsedMs), ...remaining(progress, first)].join(", ");
  const [name, tail] = [truncate(pipeline, 20), `${percentOf(progress)}  ${times}`];
  const width = Math.max(0, Math.min(longestBar, room - name.length - Math.max(tailRoom, tail.length) - 4));
  const filled = Math.round(share(progress) * width);
  const bar = style("cyan", "━".repeat(filled)) + style("dim", "─".repeat(width - filled));
  const line = `${style("bold", name)}  ${bar}  ${tail}`;
  return [width > 0 ? line : truncate(stripVTControlCharacters(line), room), fit(counts(progress), room)];
}

/** As many of the parts as there is room for. */
function fit(parts: readonly string[], room: number): string {
  const taken: string[] = [];
  for (const part of parts) {
    if ([...taken, part].join("  ").length > room) break;
    taken.push(part);
  }
  return taken.join("  ");
}

function counts(progress: Progress): string[] {
  return [
    formatCounted(progress.records, "record"),
    formatBytes(progress.bytes),
    `lag ${formatOffsets(progress.end - progress.position, progress.offsets)}`,
    formatCounted(progress.epochs, "epoch"),
    `watermark ${formatInstant(progress.watermark)}`,
  ];
}

/** Of all the input, that of earlier runs included. */
function share(progress: Progress): number {
  return progress.end === 0 ? 1 : Math.min(1, progress.position / progress.end);
}

function percentOf(progress: Progress): string {
  // Rounded down: 100% is said of all of it only.
  return `${Math.floor(share(progress) * 100)}%`.padStart(4);
}

/** At this run's pace so far, once there is one. */
function remaining(progress: Progress, first: Progress): string[] {
  const read = progress.position - first.position;
  const tookMs = progress.elapsedMs - first.elapsedMs;
  if (progress.position >= progress.end || read <= 0 || tookMs < 500) return [];
  return [`about ${formatClock(((progress.end - progress.position) / read) * tookMs)} left`];
}

function truncate(text: string, room: number): string {
  if (text.length <= room) return text;
  return room < 1 ? "" : `${text.slice(0, room - 1)}…`;
}
