import type { WeakerGuarantee } from "../../shared/epoch/epoch.ts";

/** One text of one file, replaced by another. The text must be there exactly once. */
export interface Patch {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A deliberate fault in the protocol, made by patching its source while it is loaded. */
export interface Mutant {
  readonly name: string;
  /** What the fault takes away. */
  readonly breaks: string;
  readonly patches: readonly Patch[];
  /** Of the pipeline that it is tried on; exactly-once by default. */
  readonly guarantee?: WeakerGuarantee;
}

const plan = "shared/epoch/plan.ts";
const ranges = "shared/epoch/plan-ranges.ts";
const operate = "shared/epoch/operate.ts";
const decide = "shared/epoch/decide.ts";
const commit = "shared/epoch/commit.ts";
const abort = "shared/epoch/abort.ts";
const wake = "shared/epoch/wake.ts";
const collect = "shared/epoch/collect.ts";
const names = "shared/epoch/names.ts";
const restore = "shared/epoch/restore.ts";
const fused = "shared/epoch/fused.ts";
const items = "shared/adapters/items";
const abandon = "shared/epoch/abandon.ts";
const lane = "shared/testing/simulation/lane-sink.ts";
const coordinator = "statemachines/checkpoint.asl.json";

const mutant = (name: string, breaks: string, ...patches: Patch[]): Mutant => ({ name, breaks, patches });
const under =
  (guarantee: WeakerGuarantee) =>
  (name: string, breaks: string, ...patches: Patch[]): Mutant => ({ name, breaks, patches, guarantee });
const atLeastOnce = under("at-least-once");
const atMostOnce = under("at-most-once");
const patch = (file: string, from: string, to: string): Patch => ({ file, from, to });

export const mutants: readonly Mutant[] = [
  // ---- coordination (I7)
  mutant(
    "wake read after the offsets",
    "Plan reads the wake sequence before the ends of the source",
    patch(
      plan,
      "await ledger.release(run, wake.sequence)",
      "await ledger.release(run, (await ledger.wake()).sequence)",
    ),
  ),
  mutant(
    "going idle ignores the wake sequence",
    "going idle is conditional on the wake sequence",
    patch(`${items}/conditions.ts`, "wake.sequence === sequence", "sequence >= 0"),
  ),
  mutant(
    "wake-up not counted",
    "a trigger increments the wake sequence",
    patch(`${items}/coordination.ts`, "sequence: wake.sequence + 1", "sequence: wake.sequence"),
  ),
  mutant(
    "an execution's end proves nothing",
    "the lease is taken from an execution that is proved to be over",
    patch(`${items}/coordination.ts`, "over !== null && ownsLease(wake, over) ? null : wake.owner", "wake.owner"),
  ),
  mutant(
    "lease handed over in two writes",
    "hand-over is one write",
    patch(
      plan,
      "const successor = await ledger.handOver(run);",
      "const { run: last } = await ledger.increment(run); const successor = await ledger.grant({ owner: null, run: last });",
    ),
  ),
  mutant(
    "a failed start is forgotten",
    "a trigger that could not start an execution fails",
    patch(
      wake,
      'if ((await executions.start(name(run))) === "started") return "started";',
      'await executions.start(name(run)).catch(() => {}); return "started";',
    ),
  ),
  mutant(
    "an owner that was never started counts as running",
    "a lease whose start was lost is found by the next wake-up",
    patch(wake, 'if (owner === "running") return "running";', 'if (owner !== "over") return "running";'),
  ),
  mutant(
    "a successor is not started",
    "Plan names the owner of the lease to whoever has it no more",
    patch(plan, '{ action: "end", start: name(wake.owner) }', '{ action: "end" }'),
  ),
  mutant(
    "planning without the lease",
    "the plan's write is conditional on the lease",
    patch(`${items}/planning.ts`, 'if (!ownsLease(wake, write.owner)) return { outcome: "not-owner" };', ""),
  ),
  mutant(
    "a paused pipeline plans",
    "the plan's write is conditional on HEAD's status",
    patch(`${items}/planning.ts`, "&& isRunning(head) &&", "&&"),
  ),
  mutant(
    "idle while a transaction is open",
    "Plan waits for records that are written and not yet readable",
    patch(ranges, "if (statuses.some((one) => one.high > one.end)) return { wait: soonSeconds(policy) };", ""),
  ),
  mutant(
    "idle while a window waits for a silent partition",
    "Plan waits until a silent partition is idle, if that closes a window",
    patch(
      ranges,
      "return { wait: Math.max(1, Math.ceil((due - draft.processingTime) / 1000)) };",
      'if (due > 0) return "nothing";',
    ),
  ),

  // ---- plan and attempts (I1, I2)
  mutant(
    "another attempt reads the ends again",
    "a new attempt keeps the plan",
    patch(plan, "row ? await again(engine, row) : await newPlan(engine, last)", "(await newPlan(engine, last))"),
  ),
  mutant(
    "a plan's clock goes back",
    "processing time never goes back",
    patch(ranges, "Math.max(clock.now(), last?.plan.processingTime ?? 0)", "clock.now()"),
  ),
  mutant(
    "the watermark goes back",
    "W(n) is never below W(n-1)",
    patch("shared/epoch/watermark.ts", "largest(plan.watermark, plan.advanceTo,", "largest(plan.advanceTo,"),
  ),
  mutant(
    "a fenced attempt acknowledges",
    "an ack is conditional on its attempt being planned",
    patch(
      `${items}/attempts.ts`,
      'if (!isPlannedAt(items.get(epochKey(id.epoch)), id.attempt)) return { outcome: "fenced" };',
      "",
    ),
  ),
  mutant(
    "a second ack overwrites the first",
    "acks are put if absent",
    patch(
      `${items}/attempts.ts`,
      'if (first) return { outcome: "acknowledged", ack: first };',
      'if (first) { items.update(key, given); return { outcome: "acknowledged", ack: given }; }',
    ),
  ),
  mutant(
    "acks without attempt",
    "rows of a transaction are under their attempt",
    patch(`${items}/layout.ts`, "{number(attempt)}#`", "{number(attempt && 1)}#`"),
  ),
  mutant(
    "ack before upload",
    "what an ack names is durable",
    patch(
      "shared/state/state-store.ts",
      "await this.#objects.put(key, object.finish(), { durable: true });",
      "this.#objects.put(key, object.finish(), { durable: true }).catch(() => {});",
    ),
  ),
  mutant(
    "names without nonce",
    "every invocation writes under names of its own",
    patch(operate, "nonce: random.nonce() }", 'nonce: "nonce" }'),
  ),
  mutant(
    "names without attempt",
    "every attempt writes under names of its own",
    patch(
      names,
      "const { pipeline, uid, attempt, stage, task, nonce } = name;",
      "const { pipeline, uid, stage, task, nonce } = name; const attempt = 1;",
    ),
  ),
  mutant(
    "warm state kept after an abort",
    "warm state is used only if the checkpoint names exactly what it was written to",
    patch(
      "shared/state/state-store.ts",
      "wanted.every((chain, at) => sameChain(chain, objectsOf(only.chains[at]!)))",
      "wanted.length > 0",
    ),
  ),
  mutant(
    "shuffle merged out of order",
    "partials merge in the order of the input",
    patch(operate, "sort((one, other) => one.task - other.task)", "sort((one, other) => other.task - one.task)"),
  ),

  // ---- decide and abort (I3)
  mutant(
    "decided with acks missing",
    "a decision has the acks of all tasks",
    patch(decide, "return acks.length === tasksOf(row)", "return acks.length <= tasksOf(row)"),
  ),
  mutant(
    "an old attempt is decided",
    "a decision is conditional on its attempt",
    patch(
      `${items}/deciding.ts`,
      'if (!isPlannedAt(row, id.attempt)) return "fenced";',
      'if (row?.status !== "planned") return "fenced";',
    ),
  ),
  mutant(
    "a fenced attempt is decided",
    "a fenced attempt can never be decided",
    patch(decide, '|| row.status === "fenced") return "fenced";', ') return "fenced";'),
    patch(
      `${items}/deciding.ts`,
      'if (!isPlannedAt(row, id.attempt)) return "fenced";',
      'if (row?.status === "decided" || row?.attempt !== id.attempt) return "fenced";',
    ),
    patch(
      "shared/epoch/epoch.ts",
      'fenced: { plan: "planned", lose: "decided", restore: "decided" }',
      'fenced: { plan: "planned", lose: "decided", restore: "decided", decide: "decided" }',
    ),
  ),
  mutant(
    "commit before decide",
    "nothing is visible before the decision",
    patch(
      decide,
      "return await ledger.decide(id, decisionOf(engine, row, acks, before));",
      "const write = decisionOf(engine, row, acks, before); for (const one of write.units) await engine.sink(one.sink).commit({ pipeline: engine.topology.name, uid: engine.uid, epoch: id.epoch, ...one }); return await ledger.decide(id, write);",
    ),
  ),
  mutant(
    "abort deletes before it fences",
    "only a fenced attempt's output is ended",
    patch(
      abort,
      "const fenced = await ledger.fence(input, failureOf(input));",
      "await endPrepared(engine, input); const fenced = await ledger.fence(input, failureOf(input));",
    ),
  ),
  mutant(
    "abort of a decided epoch",
    "a decided epoch is left alone by abort",
    patch(
      abort,
      'if (fenced.outcome === "decided") return',
      'if (fenced.outcome === "decided") await endPrepared(engine, input); if (fenced.outcome === "decided") return',
    ),
  ),
  mutant(
    "a decided epoch is fenced",
    "nothing leaves the status decided",
    patch(`${items}/attempts.ts`, 'if (isDecidedAt(row, id.attempt)) return { outcome: "decided" };', ""),
    patch("shared/epoch/epoch.ts", "decided: {},", 'decided: { fence: "fenced" },'),
  ),
  mutant(
    "previous not carried forward",
    "a decision names the last epoch in which each unit had output",
    patch(decide, "previous: { ...previous, ...Object", "previous: { ...Object"),
  ),

  // ---- commit (I4)
  mutant(
    "the row says committed before the effect",
    "a unit's effect comes first",
    patch(
      commit,
      "await target.commit(context);",
      "await ledger.commitUnit(epoch, sink, key); await target.commit(context);",
    ),
  ),
  mutant(
    "commit order swapped",
    "epochs are committed in order",
    patch(plan, "commitWork(engine, head.committed + 1)", "commitWork(engine, head.decided)"),
    patch(commit, 'if (head.committed < epoch - 1) return "waiting";', ""),
  ),
  mutant(
    "a loss keeps a decided epoch from its commit",
    "a decided epoch's commit is retried until it succeeds",
    patch(plan, ".catch(commitFirst(commit))", ""),
  ),
  mutant(
    "a zombie's failure counts",
    "what goes wrong in an attempt is noted under it, while it is planned",
    patch(
      `${items}/attempts.ts`,
      "if (isPlannedAt(row, id.attempt) && row.failure === null)",
      "if (row && row.failure === null)",
    ),
  ),
  mutant(
    "marker read before fencing",
    "a lane's marker, and its row, are read after InitProducerId",
    patch(lane, 'const producer = await this.#call("kafka.init", () => this.#broker.initProducerId(id));', ""),
    patch(
      lane,
      "const sequences = new Map<number, number>();",
      'const producer = await this.#call("kafka.init", () => this.#broker.initProducerId(id)); const sequences = new Map<number, number>();',
    ),
  ),
  mutant(
    "no fencing of producers",
    "every commit takes a new producer",
    patch(
      lane,
      'const producer = await this.#call("kafka.init", () => this.#broker.initProducerId(id));',
      'const producer = ((globalThis as any).shared ??= new WeakMap()).get(this.#broker)?.[id] ?? (await this.#call("kafka.init", () => this.#broker.initProducerId(id)));\n    (globalThis as any).shared.set(this.#broker, { ...(globalThis as any).shared.get(this.#broker), [id]: producer });',
    ),
  ),
  mutant(
    "no marker",
    "a lane's transaction carries its epoch",
    patch(
      lane,
      'await this.#call("kafka.commitOffset", () => this.#broker.commitOffset(id, producer, id, mark));',
      "void mark;",
    ),
  ),

  mutant(
    "an absent marker is always fine",
    "a marker that is absent says nothing of an epoch that is old enough for its own to have expired",
    patch(
      lane,
      "return ((await age(epoch)) ?? 0) < day && (previous === null || ageBefore > 6 * day);",
      "return true;",
    ),
  ),
  mutant(
    "epochs that a commit asks for are collected",
    "the epoch in which a unit key last had output is kept",
    patch(
      `${items}/retention.ts`,
      "settledRows(items, openFrom, keep).filter((key) => !asked.has(key as Key<EpochRow>))",
      "settledRows(items, openFrom, keep).filter(() => asked)",
    ),
  ),
  mutant(
    "an expired marker is a loss",
    "a marker expires after a week",
    patch(lane, "(previous === null || ageBefore > 6 * day)", "previous === null"),
  ),

  // ---- abandon (I4)
  mutant(
    "abandoned without asking the sink",
    "whoever abandons looks whether the unit is visible already",
    patch(abandon, 'if (outcome !== "abandoned" || target.abandon === undefined) continue;', "continue;"),
  ),
  mutant(
    "abandoned without fencing the lane",
    "a committer that is under way is ended before its marker is looked for",
    patch(
      lane,
      `const id = transactionalId(context);
    await this.#call("kafka.init", () => this.#broker.initProducerId(id));
    const marker`,
      `const id = transactionalId(context);
    const marker`,
    ),
  ),
  mutant(
    "the sink is asked before the row is marked",
    "a committer that begins after the row was marked lets it be",
    patch(
      abandon,
      "for (const unit of units) {",
      "for (const unit of units) { await target.abandon?.(commitContext(ledger, { pipeline, uid, sink }, epoch, unit));",
    ),
    patch(abandon, 'if (outcome !== "abandoned" || target.abandon === undefined) continue;', "continue;"),
  ),
  mutant(
    "a committer that is overtaken by abandon keeps it to itself",
    "what was abandoned and is visible counts as committed",
    patch(
      commit,
      'if ((await ledger.commitUnit(epoch, sink, key)) !== "abandoned") return;',
      "await ledger.commitUnit(epoch, sink, key); if (epoch > 0) return;",
    ),
    patch(lane, 'if (before?.status === "abandoned") await ledger.recover(previous);', ""),
  ),
  mutant(
    "abandoned epochs are not looked through",
    "`previous` is followed through abandoned epochs",
    patch(lane, 'if (before?.status !== "abandoned") break;', "if (before) break;"),
  ),

  // ---- the topology (I8)
  mutant(
    "another topology goes on with the state",
    "state belongs to the topology that made it",
    patch(plan, "    refuseOtherTopology(engine, head);\n", ""),
  ),

  // ---- the state machine
  mutant(
    "stages run at the same time",
    "a stage begins when the one before it is done",
    patch(coordinator, '"MaxConcurrency": 1,', '"MaxConcurrency": 2,'),
  ),
  mutant(
    "an attempt that was not decided is not aborted",
    "whatever Decide answers but decided leads to Abort",
    patch(coordinator, '"Default": "Abort"', '"Default": "Decided"'),
  ),
  mutant(
    "a failing Decide is not caught",
    "a branch that fails would cancel its sibling",
    patch(
      coordinator,
      `"Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": "$.failure", "Next": "Abort" }],
              "Next": "Decided?"`,
      '"Next": "Decided?"',
    ),
  ),
  mutant(
    "a failing commit is not caught",
    "a commit is tried again until it succeeds, and cancels nothing",
    patch(
      coordinator,
      `"Catch": [{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "Commit failed" }],
              "Next": "Seal"`,
      '"Next": "Seal"',
    ),
  ),
  mutant(
    "an epoch is not sealed",
    "HEAD.committed moves on when all units are committed",
    patch(coordinator, '"Next": "Seal"', '"Next": "Commit failed"'),
  ),
  mutant(
    "a fused epoch is not decided",
    "what a task has acknowledged is decided",
    patch(
      fused,
      "const { outcome } = await steps.decide({ epoch: task.epoch, attempt: task.attempt });",
      'const outcome = "decided";',
    ),
  ),
  mutant(
    "a fused invocation forgets the successor",
    "whoever passes the lease on, or finds that it is another's, has that one started",
    patch(
      fused,
      'else if (next.action !== "again") return next;',
      'else if (next.action !== "again") return next.action === "end" ? { action: "end" } : next;',
    ),
  ),
  mutant(
    "a fused epoch is not sealed",
    "HEAD.committed moves on when all units are committed",
    patch(fused, "    await steps.commit({ epoch });\n", ""),
  ),
  mutant(
    "an execution ends instead of waiting",
    "whoever has the lease goes on until he has released it",
    patch(coordinator, '"SecondsPath": "$.seconds", "Next": "Plan"', '"SecondsPath": "$.seconds", "Next": "Done"'),
  ),
  mutant(
    "an execution ends instead of planning again",
    "Plan is asked again when something changed while it planned",
    patch(coordinator, '"StringEquals": "again", "Next": "Plan"', '"StringEquals": "again", "Next": "Done"'),
  ),
  mutant(
    "the owner of the lease is not started",
    "an execution that has the lease no more starts the one that has it",
    patch(coordinator, '"Next": "Start owner"', '"Next": "Done"'),
  ),

  // ---- retention and restore (I5)
  mutant(
    "collector takes what is decided",
    "the collector deletes names of committed epochs only",
    patch(collect, "epoch <= head.committed ||", "epoch <= head.decided ||"),
  ),
  mutant(
    "collector takes the current attempt",
    "the collector deletes names of attempts below the current one",
    patch(collect, "attempt < (attempts.get(epoch) ?? 0)", "attempt <= (attempts.get(epoch) ?? 0)"),
  ),
  mutant(
    "collector takes what it does not know",
    "what a listing has and HEAD has not is above what may be deleted",
    patch(
      collect,
      "const head = await ledger.head();",
      "const early = retainedObjects(await ledger.epochs({ from: 1, to: 1e9 })); const head = await ledger.head();",
    ),
    patch(collect, "!retained.has(key)", "!early.has(key)"),
  ),
  mutant(
    "a dropped checkpoint is restored",
    "a dropped checkpoint cannot be pinned",
    patch(`${items}/retention.ts`, 'if (row.dropped) return "dropped";\n  if (!row.pins', "if (!row.pins"),
  ),
  mutant(
    "collector ignores pins",
    "a pinned checkpoint is not dropped",
    patch(`${items}/conditions.ts`, "row.pins.length > 0 || row.epoch", "row.epoch"),
    patch(collect, "&& row.pins.length === 0,", ","),
  ),
  mutant(
    "epoch numbers go back",
    "a restore is one more epoch",
    patch(
      `${items}/deciding.ts`,
      "decided: epoch, committed: epoch, fingerprint",
      "decided: 0, committed: 0, fingerprint",
    ),
  ),
  mutant(
    "restore over what is not committed",
    "a restore comes after all decided epochs are committed",
    patch(restore, "if (head.committed < head.decided)", "if (head.committed < 0)"),
    patch(`${items}/deciding.ts`, "&& isFullyCommitted(head) &&", "&&"),
  ),

  // ---- the weaker guarantees
  atLeastOnce(
    "at-least-once acknowledges before it has published",
    "rows are visible before the decision",
    patch(
      operate,
      `"at-least-once") await this.output.publish(fail)`,
      `"at-least-once") void this.output.publish(async () => {})`,
    ),
  ),
  atLeastOnce(
    "at-least-once acknowledges what could not be published",
    "an ack means that all rows have come through",
    patch(
      operate,
      "    const fail = async (error: unknown) => {\n      throw error;\n    };",
      "    const fail = async () => {};",
    ),
  ),
  atLeastOnce(
    "tasks share a partition whose rows they publish",
    "rows of a partition are one task's, where tasks publish side by side",
    patch(ranges, "to > from && mayShare(engine) ?", "to > from ?"),
  ),
  atMostOnce(
    "rows are published before they are claimed",
    "at most once: the ack comes first",
    patch(
      operate,
      "const claimed = await tryToClaim()",
      "await this.output.publish(async () => {});\n    const claimed = await tryToClaim()",
    ),
  ),
  atMostOnce(
    "whoever finds a claim publishes too",
    "at most once: only who has made the ack writes its rows",
    patch(operate, `claimed.outcome === "fenced" || claimed.ack.nonce !== ack.nonce`, `claimed.outcome === "fenced"`),
  ),
  atMostOnce(
    "a claimed attempt is tried again",
    "at most once: what is claimed is not done again",
    patch("shared/epoch/lose.ts", "if (!acks.some(hasRows)) return fenced.row;", "return fenced.row;"),
  ),
  atMostOnce(
    "rows are confirmed that have not come through",
    "what is missing is counted",
    patch("shared/epoch/output.ts", "missing.add(sink);", ""),
  ),
  atMostOnce(
    "rows that nobody has confirmed are not counted",
    "what is missing is counted",
    patch("shared/epoch/loss.ts", "count > 0 && !published.includes(sink)", "count < 0 && !published.includes(sink)"),
  ),
  atMostOnce(
    "tasks that came to nothing are not counted",
    "what is missing is counted",
    patch(
      "shared/epoch/loss.ts",
      "filter((task) => !isAcked(task))",
      "filter((task) => !isAcked(task) && task.stage < 0)",
    ),
  ),
  atMostOnce(
    "a lost share takes its state with it",
    "the state of a share that is lost stays as it was",
    patch("shared/epoch/checkpoint.ts", "expandChains(known[stage] ?? [], all)", "expandChains([], all)"),
  ),
  atMostOnce(
    "a claim may come after the fence",
    "a claim is that of a planned attempt",
    patch(
      `${items}/attempts.ts`,
      `if (!isPlannedAt(items.get(epochKey(id.epoch)), id.attempt)) return { outcome: "fenced" };`,
      "",
    ),
  ),
];
