/** Where the bars of the timeline are. Pure. */
import { formatCount, formatDuration } from "../../../format.ts";
import type { EpochData, Incident, PageData } from "../page-data.ts";

/** The time that is shown, epoch milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Bar {
  readonly lane: number;
  readonly from: number;
  readonly to: number;
  /** What it is, for its colour: a phase, a stage, a kind of incident. */
  readonly kind: string;
  readonly title: string;
  readonly epoch?: number;
  /** Goes on still. */
  readonly open?: boolean;
}

export interface Lane {
  readonly title: string;
  /** Pixels. */
  readonly height: number;
}

export interface Layout {
  readonly lanes: readonly Lane[];
  readonly bars: readonly Bar[];
}

/** More tasks share the last lane. */
const mostTaskLanes = 8;

const phaseTexts = {
  start: "plan to first task",
  operate: "tasks",
  decide: "last task to decision",
  commit: "decision to visible output",
};

/** All bars of what is known; the view draws those that it sees. */
export function layOut(
  epochs: readonly EpochData[],
  data: Pick<PageData, "incidents" | "uncommitted">,
  now: number,
): Layout {
  const tasks = Math.max(0, ...epochs.flatMap((epoch) => epoch.tasks.map(({ task }) => task + 1)));
  const taskLanes = Math.min(mostTaskLanes, tasks);
  const commitLane = 1 + taskLanes;
  const bars = [
    ...epochs.flatMap((epoch) => phaseBars(epoch, now, commitLane, data)),
    ...epochs.flatMap((epoch) => taskBars(epoch, taskLanes)),
    ...data.incidents.map((incident) => incidentBar(incident, commitLane + 1)),
  ];
  const lanes = [
    { title: "epochs", height: 24 },
    ...Array.from({ length: taskLanes }, (_, task) => ({ title: taskTitle(task, tasks), height: 10 })),
    { title: "commits", height: 16 },
    { title: "waits, aborts", height: 16 },
  ];
  return { lanes, bars };
}

const taskTitle = (task: number, tasks: number) =>
  task === mostTaskLanes - 1 && tasks > mostTaskLanes ? `tasks ${task}–${tasks - 1}` : `task ${task}`;

function phaseBars(
  epoch: EpochData,
  now: number,
  commitLane: number,
  { uncommitted }: Pick<PageData, "uncommitted">,
): Bar[] {
  const isAborted = epoch.status === "aborted";
  return epoch.phases.map(({ phase, from, to }): Bar => {
    const isCommit = phase === "commit";
    const fails = isCommit && uncommitted?.epoch === epoch.epoch && uncommitted.error !== null;
    const kind = fails ? "commit-failed" : isAborted ? "aborted" : phase;
    // When an attempt was aborted the ledger does not say.
    const end = to ?? (isAborted ? from : now);
    const took =
      to === null
        ? isAborted
          ? "aborted"
          : `${formatDuration(Math.max(0, now - from))} so far`
        : formatDuration(to - from);
    const attempt = epoch.attempt > 1 ? `, attempt ${epoch.attempt}` : "";
    const title = `epoch ${epoch.epoch}${attempt}: ${phaseTexts[phase]}, ${took}${countsText(epoch)}`;
    return {
      lane: isCommit ? commitLane : 0,
      from,
      to: end,
      kind,
      title,
      epoch: epoch.epoch,
      open: to === null && !isAborted,
    };
  });
}

const countsText = ({ counts }: EpochData) => (counts === null ? "" : `, ${formatCount(counts.records)} records`);

function taskBars({ epoch, tasks }: EpochData, lanes: number): Bar[] {
  return tasks.map(({ stage, task, from, to, records }): Bar => {
    const read = records > 0 ? `, ${formatCount(records)} records` : "";
    const title = `epoch ${epoch}: stage ${stage}, task ${task}, ${formatDuration(to - from)}${read}`;
    return { lane: 1 + Math.min(task, lanes - 1), from, to, kind: `stage-${stage % 3}`, title, epoch };
  });
}

function incidentBar({ kind, from, to, what, epoch, error }: Incident, lane: number): Bar {
  const why = error === null ? "" : `: ${error.message}`;
  const took = to > from ? `, ${formatDuration(to - from)}` : "";
  return { lane, from, to, kind, title: `${what}${took}${why}`, ...(epoch !== undefined && { epoch }) };
}

/** From the first to the last moment of which anything is known. */
export function extentOf(epochs: readonly EpochData[]): Span | undefined {
  const first = epochs[0];
  if (first === undefined) return undefined;
  const to = Math.max(...epochs.slice(-20).map((one) => one.committedAt ?? one.decidedAt ?? one.plannedAt));
  return { from: first.plannedAt, to: Math.max(to, first.plannedAt + 1) };
}

/** Epochs that one can tell apart on a screen. */
const comfortable = 30;

/** How much time to show where nobody has said: the last epochs of the last stretch of work. */
export function spanToShow(epochs: readonly EpochData[]): number {
  const last = epochs.slice(-comfortable);
  const extent = extentOf(last);
  if (extent === undefined) return 60_000;
  // A pause of hours between two runs is nothing to look at.
  let from = last.at(-1)!.plannedAt;
  for (const { plannedAt, decidedAt } of last.slice(0, -1).reverse()) {
    if (from - (decidedAt ?? plannedAt) > 60_000) break;
    from = plannedAt;
  }
  return Math.min(3_600_000, Math.max(1000, (extent.to - from) * 1.04));
}

/**
 * The moment at the right of a timeline that follows a run. That is now, but for a run that has had nothing to do for so long that an empty timeline would be
 * left: then it is the end of the last work.
 */
export function newestToShow(epochs: readonly EpochData[], now: number, length: number): number {
  const extent = extentOf(epochs);
  const isIdle = epochs.at(-1)?.committedAt != null;
  return extent !== undefined && isIdle && now - extent.to > length / 2 ? extent.to : now;
}

const steps = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3,
  7200e3, 10800e3, 21600e3, 43200e3, 86400e3,
];

/** Round times, about 110 pixels from each other. */
export function ticksOf({ from, to }: Span, width: number): { readonly at: number; readonly label: string }[] {
  const most = Math.max(2, width / 110);
  const step = steps.find((one) => (to - from) / one <= most) ?? Math.ceil((to - from) / most / 86400e3) * 86400e3;
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, index) => {
    const at = first + index * step;
    return { at, label: tickLabel(at, step) };
  });
}

function tickLabel(at: number, step: number): string {
  const iso = new Date(at).toISOString();
  if (step >= 86400e3) return iso.slice(0, 10);
  return step < 1000 ? iso.slice(11, 23) : iso.slice(11, 19);
}

export interface Drawn extends Bar {
  readonly x: number;
  readonly width: number;
}

/**
 * What can be seen of the bars, in pixels. Bars that would be thinner than a pixel get one; of those in one pixel of a lane one is drawn for each kind, so that
 * a day of epochs is no more to draw than a minute.
 */
export function visibleBars(bars: readonly Bar[], { from, to }: Span, width: number): Drawn[] {
  const scale = width / (to - from);
  const taken = new Set<string>();
  return bars.flatMap((bar) => {
    if (bar.to < from || bar.from > to) return [];
    const x = Math.max(0, (bar.from - from) * scale);
    const end = Math.min(width, (bar.to - from) * scale);
    const drawn = { ...bar, x: round(x), width: round(Math.max(1, end - x)) };
    if (end - x >= 1) return [drawn];
    const pixel = `${bar.lane} ${Math.floor(x)} ${bar.kind}`;
    if (taken.has(pixel)) return [];
    taken.add(pixel);
    return [drawn];
  });
}

const round = (value: number) => Math.round(value * 100) / 100;
