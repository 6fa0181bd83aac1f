// Model B's vocabulary: what may happen, what the ledger, the stores and Kafka hold, and how names are made.
// Names are `<kind><epoch>.<attempt>.<task>.<nonce>`: s snapshot object, f staged file, b staged Kafka batches.
export interface Setup {
  records: number; // one epoch a record, unless `step` is larger
  step: number;
  tasks: number;
  files: boolean;
  lane: boolean; // one Kafka lane
  silent: number[]; // offsets whose epoch has no output for the lane
  overlap: boolean; // §6: commit n beside process n+1
  warm: boolean; // §9: the producer that committed `previous` may skip init and read
  roll: boolean; // §9: seal rolls old manifests into index files
  retain: number; // checkpoints
  // ---- how often each fault may happen
  crashes: number; // of an invocation, or of an execution
  duplicates: number; // invocations
  zombies: number; // invocations or executions that live on after they were given up or replaced
  lostAnswers: number; // of decide and of ack
  failures: number; // attempts that fail or time out
  transactionTimeouts: number;
  sweeps: number; // of the collector, in three steps, beside everything else
  restores: number;
  abandons: number;
  losses: number; // Kafka loses the lane's last transaction: must be loud (I8)
  backups: number; // the ledger is restored from a backup, older than Kafka: must be loud (I8)
  weeks: number; // quiet weeks, after which the marker has expired
}
export const quiet: Setup = {
  records: 2,
  step: 1,
  tasks: 1,
  files: false,
  lane: false,
  silent: [],
  overlap: false,
  warm: false,
  roll: false,
  retain: 1,
  crashes: 0,
  duplicates: 0,
  zombies: 0,
  lostAnswers: 0,
  failures: 0,
  transactionTimeouts: 0,
  sweeps: 0,
  restores: 0,
  abandons: 0,
  losses: 0,
  backups: 0,
  weeks: 0,
};

/** What an earlier wording of the protocol lacked: each is a hole that this model found. */
export type Fix =
  | "restoreReplacesPlan" // restore fences the undecided N+1 and replaces its plan: the one exception to "keeps the plan"
  | "alwaysFresh" // an absent marker is accepted only for a recent decision, also where `previous` is none
  | "absentOnlyIfExpired" // and only if `previous` is none, or old enough for its marker to have expired
  | "warmIsTaken" // a committer takes the warm producer out of its place, and puts it back only after a clean commit
  | "rowAfterInit" // the committer reads its row again after InitProducerId
  | "abandonFences" // abandon starts a producer of the lane and reads the marker first
  | "lookThroughAbandoned" // `previous` is followed through abandoned epochs
  | "indexIsImmutable"; // an index file covers a fixed block of epochs, is created exclusively and never rewritten
export const allFixes: Fix[] = [
  "restoreReplacesPlan",
  "alwaysFresh",
  "absentOnlyIfExpired",
  "warmIsTaken",
  "rowAfterInit",
  "abandonFences",
  "lookThroughAbandoned",
  "indexIsImmutable",
];

export type Mutant =
  | "abortDeletesFirst"
  | "noNonce"
  | "rowsWithoutAttempt"
  | "markerBeforeInit"
  | "noInit"
  | "noPreviousCheck"
  | "noTokenCheck"
  | "numbersGoBack"
  | "commitWithoutOrder"
  | "collectorListsFirst"
  | "collectorDeletesAbove"
  | "collectorIgnoresPins"
  | "collectorTrustsDecided"
  | "decideWithoutAttempt"
  | "decideWithoutAcks"
  | "secondAckOverwrites"
  | "ackRetryIsLoser"
  | "zombieMayStop"
  | "rowBeforeEffect"
  | "committedWithoutRows"
  | "replanReadsEndAgain"
  | "abortIgnoresDecided"
  | "warmWithoutPrevious"
  | "renameMissingIsLoss";

export interface Epoch {
  attempt: number;
  status: "planned" | "fenced" | "decided";
  from: number;
  to: number;
  restore: boolean;
  fresh: boolean;
  checkpoint: string[];
  previous: number;
  token: string;
  dropped: boolean;
  pinned: boolean;
}
export interface Row {
  state: "prepared" | "committed" | "abandoned";
  name: string;
}
export interface Machine {
  alive: boolean;
  process: { n: number; a: number; stage: "operate" | "abort" | "delete"; nonces: number[] } | null;
  commit: { n: number; seal: "" | "sealed" | "listed" | "indexed"; listed: number[] } | null;
  warm: { producer: Producer; n: number } | null;
}
export interface Call {
  kind: "operate" | "decide" | "file" | "lane";
  x: number;
  n: number;
  a: number;
  t: number;
  nonce: number;
  at: string;
  live: boolean; // live: its state machine waits for it
  to: number;
  producer: Producer;
}
/** Which producer epoch somebody holds: only "current or not" matters to the broker. */
export type Producer = "none" | "fenced" | "current";
export interface Lane {
  open: { n: number; token: string; ending: boolean } | null; // always the current producer's
  marker: number;
  token: string; // what OffsetFetch with requireStable returns; 0: absent
  log: string[]; // tokens that a read_committed reader has seen
}
export interface State {
  head: { decided: number; committed: number; status: string };
  owner: number; // execution that holds the lease: 0, 1 or none (-1). Model A says how it got it
  epochs: Epoch[];
  acks: Record<string, { nonce: number; to: number }>;
  rows: Record<string, Row>;
  objects: string[];
  files: Record<string, string>;
  manifests: number[];
  index: number[]; // epochs in index files
  lane: Lane;
  machines: Machine[];
  calls: Call[];
  sweep: { at: string; decided: number; committed: number; attempts: number[]; keep: string[]; names: string[] } | null;
  ghost: { decided: string[]; abandoned: number[]; lost: "" | "kafka" | "ledger" | "unknown"; backups: number }; // what the checker remembers, no part of the system
  left: Record<string, number>;
  broken: string;
}

/** Names, and what can be read off a state. */
export function readings(setup: Setup, mutant?: Mutant) {
  const tasks = Array.from({ length: setup.tasks }, (_, index) => index + 1);
  const name = (kind: string, n: number, a: number, t: number, nonce: number) =>
    `${kind}${n}.${a}.${t}.${mutant === "noNonce" ? 1 : nonce}`;
  const parse = (one: string) => {
    const [n, a] = one.slice(1).split(".");
    return { n: Number(n), a: Number(a) };
  };
  const fileRow = (n: number, a: number, t: number) => `${n}.${mutant === "rowsWithoutAttempt" ? 0 : a}.f${t}`;
  const laneRow = (n: number, a: number) => `${n}.${a}.lane`;
  const hasFiles = (one: Epoch) => setup.files && !one.restore;
  const hasLane = (one: Epoch) => setup.lane && !one.restore && !setup.silent.includes(one.from);
  const position = (s: State) => (s.head.decided === 0 ? 0 : s.epochs[s.head.decided - 1]!.to);
  const hasWork = (s: State) =>
    position(s) < setup.records || s.head.committed < s.head.decided || s.epochs.length > s.head.decided;
  const rowsOf = (one: Epoch, n: number) => [
    ...(hasFiles(one) ? tasks.map((t) => fileRow(n, one.attempt, t)) : []),
    ...(hasLane(one) ? [laneRow(n, one.attempt)] : []),
  ];
  const rowsDone = (s: State, n: number) =>
    rowsOf(s.epochs[n - 1]!, n).every(
      (key) => s.rows[key]?.state === "committed" || s.rows[key]?.state === "abandoned",
    );
  const store = (s: State, ...names: string[]) => {
    s.objects = [...new Set([...s.objects, ...names])].sort();
  };
  const drop = (s: State, ...names: string[]) => {
    s.objects = s.objects.filter((one) => !names.includes(one));
  };
  /** What an acknowledged task wrote. */
  const written = (s: State, n: number, a: number, t: number) => {
    const ack = s.acks[`${n}.${a}.${t}`];
    return ack
      ? ["s", ...(setup.files ? ["f"] : []), ...(setup.lane ? ["b"] : [])].map((kind) => name(kind, n, a, t, ack.nonce))
      : [];
  };
  const batches = (n: number, a: number, s: State) =>
    tasks.map((t) => name("b", n, a, t, s.acks[`${n}.${a}.${t}`]?.nonce ?? 0));
  /** The last epoch before n in which the lane had output (§9). */
  const previousOf = (s: State, n: number): number => {
    for (let at = n - 1; at > 0; at--) if (hasLane(s.epochs[at - 1]!)) return at;
    return 0;
  };
  /** Every other epoch leaves a task's state as it was: the checkpoint goes on naming the older object. */
  const changed = (n: number, t: number) => n === 1 || (n + t) % 2 === 1;

  return {
    tasks,
    name,
    parse,
    fileRow,
    laneRow,
    hasFiles,
    hasLane,
    position,
    hasWork,
    rowsOf,
    rowsDone,
    store,
    drop,
    written,
    batches,
    previousOf,
    changed,
  };
}
