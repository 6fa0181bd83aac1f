import type { FaultKind } from "../../../shared/testing/simulation/faults.ts";
import { People } from "../../../shared/testing/simulation/people.ts";
import { drive } from "../../../shared/testing/simulation/simulate.ts";
import { type Violation, World } from "../../../shared/testing/simulation/world.ts";
import { EnumeratedAgenda } from "./agenda.ts";
import { Choices, type Schedule } from "./choices.ts";
import type { Configuration, Deed } from "./configurations.ts";
import { type Fingerprint, Knowledge } from "./fingerprint.ts";
import { readingOf } from "./topologies.ts";

/** One run of a small world. */
export interface SmallRun {
  readonly violation: Violation | undefined;
  /** It ended where another run had been. */
  readonly isCut: boolean;
  /** The state of the world at the end; undefined if it was cut. */
  readonly end: number | undefined;
  readonly steps: number;
  readonly taken: readonly string[];
  readonly timeline: readonly string[];
}

interface Options {
  readonly fingerprint: Fingerprint;
  readonly trace?: boolean;
  offer(schedule: Schedule): void;
  /** Whether a state of the world has not been seen yet. */
  isNew(fingerprint: number): boolean;
}

/** How often time passes while somebody could go on who does not. */
const patience = 12;

/** Runs a configuration as a schedule says, to the end or to where it has been before. */
export async function runSmall(
  configuration: Configuration,
  schedule: Schedule,
  { fingerprint, trace = false, offer, isNew }: Options,
): Promise<SmallRun> {
  const { topology, setup, faults, deeds } = configuration;
  const choices = new Choices(schedule, offer);
  const knowledge = new Knowledge();
  const met = new Set<number>();
  const agenda: EnumeratedAgenda = new EnumeratedAgenda({
    choices,
    patience,
    isPrivate: privateSteps(deeds),
    isNew: () => {
      if (!choices.isFresh) return true;
      const state = fingerprint.of(world, agenda, knowledge);
      if (met.has(state)) world.nature.violated("liveness", "the same state comes again, and nothing has changed");
      met.add(state);
      return isNew(state);
    },
  });
  const decides = (kind: FaultKind, site: string): boolean => {
    if (!faults[kind]?.test(site) || isRedundant(kind, site)) return false;
    const label = `! ${kind}: ${site}`;
    return (
      choices.choose([
        { label: `no ${kind}: ${site}`, cost: "free" },
        { label, cost: "fault" },
      ]) === 1
    );
  };
  const world = new World(topology, { seed: 1, agenda, memory: knowledge, setup, decides, trace });
  const people = new People(world, () => "");
  await world.open();
  begin(world, people, configuration);
  await drive(
    world,
    people,
    (done) => judge(done, configuration),
    () => {
      if (!agenda.isCut) choices.close();
      return agenda.isCut;
    },
  );
  const { violation, scheduler, timeline } = world;
  const end = agenda.isCut ? undefined : fingerprint.of(world, agenda, knowledge);
  return { violation, isCut: agenda.isCut, end, steps: scheduler.steps, taken: choices.taken, timeline };
}

/** What happens from outside: records come, and each deed is done once, all of it at any moment. */
function begin(world: World, people: People, { values, oneByOne, inTransactions, deeds }: Configuration): void {
  const { scheduler, log } = world;
  const append = (name: string, given: readonly string[]) => {
    const settle = log.append("p0", given, inTransactions);
    if (inTransactions) scheduler.step(`the transaction of ${name} ends`, 0, () => settle("commit"), { isLate: true });
    world.wake(name, null);
  };
  log.append("p0", [], false);
  const comes = (index: number): void => {
    if (index === values.length) return;
    const name = `record ${index + 1}`;
    scheduler.step(
      name,
      0,
      () => {
        append(name, [values[index]!]);
        comes(index + 1);
      },
      { isLate: true },
    );
  };
  if (oneByOne) comes(0);
  else append("all records", values);
  const doing: Record<Deed, () => void> = {
    pause: () => void people.pause(1),
    restore: () => void people.restore(1),
    abandon: () => void people.abandon(1),
    sweep: () => people.sweep(1),
    week: () => people.passWeek(),
  };
  for (const deed of deeds) scheduler.step(`a person: ${deed}`, 0, doing[deed], { isLate: true });
}

const answers = /: (answer|death)$/;
const ofTheSource = / source\.(read|cut|split): /;
const ofObjects = / (objects\.(put|get)|files\.stage): /;

/** What does not depend on when it is done, since nobody else changes or lists it. */
function privateSteps(deeds: readonly Deed[]): (label: string) => boolean {
  const isListed = deeds.includes("sweep") || deeds.includes("restore");
  return (label) => answers.test(label) || ofTheSource.test(label) || (!isListed && ofObjects.test(label));
}

const reads =
  / (ledger\.(head|wake|epoch|epochs|acks|units)|objects\.(get|list)|source\.\w+|executions\.describe|kafka\.fetchOffset|files\.list)$/;

/** Of a call that changes nothing it is all the same whether it or its answer fails. */
const isRedundant = (kind: FaultKind, site: string): boolean =>
  ["answer lost", "failed call takes effect later"].includes(kind) && reads.test(site);

/** Every record that is not silent is a row, once and in order. */
function judge({ lanes, broker, folders, topology }: World, { values, deeds }: Configuration): string | undefined {
  if (deeds.includes("restore") || deeds.includes("abandon") || deeds.includes("week")) return undefined;
  const readings = values.map(readingOf).filter(({ silent }) => !silent);
  const expected = readings.map(({ time }) => JSON.stringify({ key: "k", time })).join();
  for (const sink of Object.keys(topology.sinks)) {
    if (sink === "windows") continue;
    const { manifests, files } = folders.get(sink) ?? {};
    const rows = lanes.has(sink)
      ? [0, 1, 2].flatMap((partition) => broker.readCommitted(`${sink}-${partition}`))
      : [...manifests!.values()].flatMap((names) => names.flatMap((name) => files!.get(name)!.split("\n")));
    if (rows.join() !== expected) return `${sink} has ${rows.join()}, and should have ${expected}`;
  }
  return undefined;
}
