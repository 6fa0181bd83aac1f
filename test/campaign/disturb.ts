import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../../shared/adapters/memory/random.ts";
import { type Disturbed, type Heal, type Kind, over } from "./disturbance.ts";
import type { Tally } from "./tally.ts";

/** A disturbance is healed after so many others, at most. */
const mostOthers = 3;
/** Epochs between two disturbances, at most, and how long they are waited for: nothing goes on while a disk is full. */
const mostEpochs = 3;
const defaultWaitMs = 4000;
const blockedWaitMs = 700;

interface Wound<Round> {
  readonly kind: Kind<Round>;
  readonly heal: Heal;
  /** Disturbances until then. */
  left: number;
}

export interface DisturbOptions<Round extends Disturbed> {
  readonly kinds: readonly Kind<Round>[];
  /** What their order is drawn from. */
  readonly order: SeededRandom;
  readonly tally: Tally;
  /** How many shall come about. */
  readonly count: number;
  /** Longest time between two, if nothing blocks. */
  readonly waitMs?: number;
  /** Default: all. */
  readonly isWanted?: (kind: string) => boolean;
  /** Asked between any two. */
  readonly goesOn: () => boolean;
}

/** Draws disturbances, and lets them come about, one after the other and several at once: each lasts until some others have come. In the end all is healed. */
export async function disturb<Round extends Disturbed>(round: Round, options: DisturbOptions<Round>): Promise<void> {
  const { order, tally, count, waitMs = defaultWaitMs, goesOn, isWanted = () => true } = options;
  const kinds = options.kinds.filter(({ name }) => isWanted(name));
  const { timeline } = round;
  const wounds: Wound<Round>[] = [];
  /** Epochs that were decided when it was blocked last. */
  let blockedAt = -1;
  const heal = async (wound: Wound<Round>) => {
    wounds.splice(wounds.indexOf(wound), 1);
    timeline.note(`${wound.kind.name}: healed`);
    await wound.heal();
  };
  try {
    for (let done = 0, tries = 0; done < count && tries < 2 * count && goesOn(); tries++) {
      await round.feed();
      // After it was blocked it goes on for a while before it is blocked again: nothing is disturbed where nothing happens.
      const mayBlock = wounds.some(({ kind }) => kind.blocks) || (await round.decided()) > blockedAt;
      const kind = draw(
        order,
        kinds.filter((one) => {
          const isPossible = (mayBlock || !one.blocks) && (one.applies?.(round) ?? true);
          return isPossible && !wounds.some(({ kind }) => areApart(kind, one));
        }),
      );
      if (kind === undefined && wounds.length === 0) break;
      if (kind === undefined) {
        await heal(wounds[0]!);
        continue;
      }
      timeline.note(kind.name);
      const healing = await kind.disturb(round);
      if (healing === undefined) timeline.note(`${kind.name}: came to nothing`);
      else done++;
      if (typeof healing === "function") {
        tally.add(kind.name, kind.sort);
        if (healing !== over) wounds.push({ kind, heal: healing, left: 1 + order.below(mostOthers) });
      }
      if (kind.blocks) blockedAt = await round.decided();
      for (const wound of [...wounds]) if (wound.left-- <= 0) await heal(wound);
      const isBlocked = wounds.some(({ kind }) => kind.blocks);
      await someEpochs(round, order.below(mostEpochs + 1), isBlocked ? blockedWaitMs : waitMs);
    }
  } finally {
    // The last first, as they may lie one upon another.
    for (const wound of wounds.toReversed()) await heal(wound);
  }
}

async function someEpochs(round: Disturbed, count: number, patienceMs: number): Promise<void> {
  const goal = (await round.decided()) + count;
  for (const giveUpAt = performance.now() + patienceMs; performance.now() < giveUpAt; await sleep(25))
    if ((await round.decided()) >= goal) break;
  await sleep(round.random.below(40));
}

/** Undefined if there is none to draw from. */
function draw<Round>(random: SeededRandom, kinds: readonly Kind<Round>[]): Kind<Round> | undefined {
  const weighted = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));
  return weighted[random.below(weighted.length)];
}

/** Whether the two cannot be at once. */
function areApart<Round>(one: Kind<Round>, other: Kind<Round>): boolean {
  const excludes = (a: Kind<Round>, b: Kind<Round>) =>
    (a.excludes?.includes(b.name) ?? false) || (a.blocks === true && b.needsProgress === true);
  return one === other || excludes(one, other) || excludes(other, one);
}
