import { cli } from "../../support/cli.ts";
import { type Kind, over } from "../disturbance.ts";
import type { Disk } from "./disk.ts";
import type { LocalRound } from "./round.ts";

type LocalKind = Kind<LocalRound>;

/** What is left free on a full disk: perhaps enough for a file, and not for the next. */
const mostLeftBytes = 24 * 1024;

const paused = "paused by command";
const outputFull = "disk of the output full";

function full(name: string, disk: (round: LocalRound) => Disk, excludes: readonly string[]): LocalKind {
  return {
    name,
    sort: "more",
    weight: 4,
    blocks: true,
    excludes,
    applies: (round) => disk(round).isOwn,
    async disturb(round) {
      disk(round).fill(round.random.below(mostLeftBytes));
      return async () => disk(round).free();
    },
  };
}

const readOnly: LocalKind = {
  name: "output read-only",
  sort: "more",
  blocks: true,
  weight: 3,
  applies: ({ place }) => place.outputs.length > 0 && place.outputDisk.isOwn,
  excludes: [outputFull],
  async disturb({ place }) {
    return place.outputDisk.makeReadOnly() ? async () => place.outputDisk.makeWritable() : undefined;
  },
};

/** The running process goes on with the code that it has; whatever it or its successor loads from now on is new. */
const newCode: LocalKind = {
  name: "new code deployed",
  sort: "more",
  weight: 5,
  async disturb({ place, runner, random, timeline }) {
    timeline.note(`version ${place.deploy()}`);
    const signal = ([undefined, "SIGTERM", "SIGKILL"] as const)[random.below(3)];
    if (signal) runner.signal(signal);
    return over;
  },
};

const otherParallelism: LocalKind = {
  name: "parallelism and size of epochs changed",
  sort: "more",
  weight: 3,
  async disturb({ runner, random }) {
    runner.parallelism = 1 + random.below(4);
    runner.epochRecords = 60 + random.below(200);
    runner.signal(random.below(2) === 0 ? "SIGTERM" : "SIGKILL");
    return over;
  },
};

const pausedByCommand: LocalKind = {
  name: paused,
  sort: "more",
  blocks: true,
  weight: 3,
  async disturb({ place }) {
    const state = ["--state", place.state];
    if ((await cli("pause", ...state)).code !== 0) return undefined; // there is none yet
    return async () => {
      const { code, stderr } = await cli("resume", ...state);
      if (code !== 0) throw new Error(`resume ended with code ${code}: ${stderr}`);
    };
  },
};

export const placeKinds: readonly LocalKind[] = [
  full("disk of the state full", ({ place }) => place.stateDisk, [paused]),
  full(outputFull, ({ place }) => place.outputDisk, []),
  readOnly,
  newCode,
  otherParallelism,
  pausedByCommand,
];
