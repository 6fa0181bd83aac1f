import { type Call, callsOf, type Profile, type ProfileNode } from "./profile.ts";

export const phases = [
  "fetch and decode",
  "operators and fold",
  "shuffle",
  "merge and fire",
  "encode and stage",
  "commit",
  "snapshot",
  "protocol",
  "garbage collection",
  "start and other",
] as const;
export type Phase = (typeof phases)[number];

type Rule = readonly [file: RegExp, phase: Phase, functions?: RegExp];

/** Which phase a function belongs to, by its file, and where that has several, by its name; the first that fits. What no rule is about belongs to the phase of its caller. */
export const rules: readonly Rule[] = [
  [/adapters\/filesystem\/sink/, "commit", /^(#?commit|seal|#?publish|digestAt)$/],
  [/adapters\/(output\/(sealing|rolling|tidying)|filesystem\/folder-store)/, "commit"],
  [/adapters\/kafka\/sink\/(lane-|batch-sender|marker|persevere|call-window)/, "commit"],
  [/adapters\/kafka\/protocol\/requests\/(produce|transactions|group-offset)/, "commit"],
  [/adapters\/(kafka\/sink|kafka\/record-batch\/encode|output|filesystem\/(sink|staging))/, "encode and stage"],
  [/pipeline\/encoders\//, "encode and stage"],
  [/adapters\/(lines|kafka\/source)\/|pipeline\/decoders\//, "fetch and decode"],
  [/adapters\/kafka\/(record-batch\/(decode|columns|aborted)|protocol\/requests\/fetch)/, "fetch and decode"],
  [/adapters\/filesystem\/(source|input-|contents|discovery|found-file|looks|locator|identity)/, "fetch and decode"],
  [/(operators\/(packed-)?partials|epoch\/object-shuffle|memory\/shuffle|local\/parcels)/, "shuffle"],
  [/shared\/state\/(state-store|snapshot|write-changes|group-restorer|link|chains|compaction)/, "snapshot"],
  [/shared\/operators\/(keyed-stage|merge|firing|result|expiry)/, "merge and fire"],
  [/shared\/operators\/|examples\//, "operators and fold"],
  [/shared\/epoch\/|adapters\/(items|sqlite|system)\/|local\/|composition\/|aws-local-stepfunctions/, "protocol"],
];

/** The same, where no caller is known: after an `await` there is none. What comes from a socket is mostly what was fetched; most objects are snapshots. */
export const rulesWithoutCaller: readonly Rule[] = [
  [/adapters\/kafka\/(kafkajs|protocol)|kafkajs\/src\/|node:net|stream_base_commons/, "fetch and decode"],
  [/shared\/state\/(grouped-object|open-groups)|adapters\/filesystem\/object-store/, "snapshot"],
];

/** The share of each phase in the CPU time of the JavaScript threads that were profiled. */
export function phaseShares(profiles: readonly Profile[]): ReadonlyMap<Phase, number> {
  const times = new Map<Phase, number>(phases.map((phase) => [phase, 0]));
  let total = 0;
  for (const call of profiles.flatMap(callsOf)) {
    const phase = phaseOf(call);
    times.set(phase, times.get(phase)! + call.microseconds);
    total += call.microseconds;
  }
  return new Map([...times].map(([phase, time]) => [phase, time / total]));
}

/** That of the innermost function that has one. */
export function phaseOf({ node, callers }: Pick<Call, "node" | "callers">): Phase {
  if (node.callFrame.functionName === "(garbage collector)") return "garbage collection";
  const inward = [...callers, node];
  const found = inward.findLast((one) => match(rules, one) !== undefined);
  if (found !== undefined) return match(rules, found)!;
  return inward.map((one) => match(rulesWithoutCaller, one)).find((phase) => phase !== undefined) ?? "start and other";
}

function match(among: readonly Rule[], { callFrame: { url, functionName } }: ProfileNode): Phase | undefined {
  return among.find(([file, , functions]) => file.test(url) && functions?.test(functionName) !== false)?.[1];
}
