// Model A: who runs, and when (protocol §6: lease, wake-ups, hand-over, idle; §7: the last stable offset and idle partitions).
// One partition carries data; `executions` are runs of the state machine; `calls` are Lambda invocations.
import { copy, type Model, type Step, sortByText } from "./explore.ts";

/** Heartbeat off throughout: the hard case of I7. */
export interface Bounds {
  data: number; // records that arrive
  crashes: number; // executions that fail, time out or are aborted
  retries: number; // Plan invocations that die or time out, and that the state machine invokes again
  zombies: number; // invocations that live on after the state machine gave them up
  repeats: number; // deliveries that the mapping or the rule makes twice
  startFailures: number; // StartExecution fails, or its answer is lost
  handOvers: number;
  stops: number; // I8 stops, each followed by `resume`
  commitFailures: number;
  describeLag: boolean; // DescribeExecution is eventually consistent: it may still say RUNNING
  openTransactions: boolean; // records arrive inside a Kafka transaction: the last stable offset lags
  idleWindow: boolean; // after the data one window waits for a silent partition to be marked idle
}
export const noFaults: Bounds = {
  data: 1,
  crashes: 0,
  retries: 0,
  zombies: 0,
  repeats: 0,
  startFailures: 0,
  handOvers: 0,
  stops: 0,
  commitFailures: 0,
  describeLag: false,
  openTransactions: false,
  idleWindow: false,
};

/** What an earlier wording of the protocol lacked: each is a hole that this model found. */
export type Fix =
  | "grant" // the lease is written to a name before that name is started; Plan never takes a lease
  | "proof" // the rule's event proves that its execution is over: the increment takes the lease from it, stopped or not
  | "queue" // the rule's event is kept until the trigger succeeds
  | "stoppedGoesIdle" // after a stop comes Plan, and a Plan that finds the pipeline stopped leaves by the idle write only
  | "waitForIdle" // Plan answers wait while a window would fire once a partition becomes idle
  | "flushWhenAllIdle"; // all partitions idle: W is the maximum over them
export const allFixes: Fix[] = ["grant", "proof", "queue", "stoppedGoesIdle", "waitForIdle", "flushWhenAllIdle"];

export type Mutant =
  | "wakeReadAfterOffsets"
  | "idleInTwoWrites"
  | "idleIgnoresWake"
  | "leasePassedInTwoWrites"
  | "leaseReadBeforeIncrement"
  | "idleWhileTransactionOpen"
  | "triggerForgetsFailedStart"
  | "planWithoutOwner"
  | "noRule"
  | "missingOwnerNotStarted"
  | "usedNameCountsAsStarted"
  | "resumeWakesFirst"
  | "idleWithUncommitted";

interface Execution {
  status: "running" | "failed" | "succeeded";
  at: "plan" | "process" | "commit" | "ending";
  attempt: number;
  shown: boolean;
}
interface Call {
  kind: "plan" | "trigger";
  at: string;
  run: number; // plan: its execution
  live: boolean; // plan: the state machine still waits for it
  source: string; // trigger: mapping, repeat, rule or resume
  upTo: number; // trigger: the offset that the mapping commits on success
  over: number; // trigger: the execution that the rule's event names
  tries: number;
  wake: number;
  owner: number;
  lastRun: number;
  stable: number;
  high: number;
  clock: number;
  stopped: boolean;
}
interface State {
  high: number;
  stable: number;
  mapped: number;
  decided: number;
  committed: number;
  epoch: { to: number; attempt: number; window: boolean } | null; // planned, undecided
  attempts: number;
  wake: { sequence: number; owner: number; run: number };
  status: "running" | "stopped" | "resuming";
  executions: Execution[]; // index: run number - 1
  events: number[]; // executions whose end the rule has not delivered yet
  calls: Call[];
  window: "none" | "open" | "fired";
  clock: 0 | 1 | 2; // 1: the silent partition is idle; 2: all partitions are
  left: {
    data: number;
    crashes: number;
    retries: number;
    zombies: number;
    repeats: number;
    startFailures: number;
    handOvers: number;
    stops: number;
    commitFailures: number;
  };
  broken: string;
}

const call = (fields: Partial<Call>): Call => ({
  kind: "trigger",
  at: "increment",
  run: 0,
  live: true,
  source: "",
  upTo: 0,
  over: 0,
  tries: 0,
  wake: -1,
  owner: -1,
  lastRun: -1,
  stable: -1,
  high: -1,
  clock: -1,
  stopped: false,
  ...fields,
});

export function coordination(bounds: Bounds, fixes: Fix[] = [], mutant?: Mutant): Model<State> {
  const fixed = (fix: Fix) => fixes.includes(fix);
  const { describeLag, openTransactions, idleWindow, ...left } = bounds;
  const initial: State = {
    high: 0,
    stable: 0,
    mapped: 0,
    decided: 0,
    committed: 0,
    epoch: null,
    attempts: 0,
    wake: { sequence: 0, owner: 0, run: 0 },
    status: "running",
    executions: [],
    events: [],
    calls: [],
    window: "none",
    clock: 0,
    left,
    broken: "",
  };

  function steps(state: State): Step<State>[] {
    const found: Step<State>[] = [];
    const add = (label: string, change: (next: State) => void, fault = false) => {
      const next = copy(state);
      change(next);
      // A call without effect on what follows is the same call: order does not matter.
      sortByText(next.calls);
      found.push({ label, state: next, fault });
    };

    // ---- the world
    if (state.left.data > 0)
      add(
        "a record arrives",
        (s) => {
          s.left.data--;
          s.high++;
          if (!openTransactions) s.stable = s.high;
          s.clock = 0;
        },
        true,
      );
    if (state.stable < state.high)
      add("the Kafka transaction ends: the last stable offset catches up", (s) => {
        s.stable = s.high;
      });
    if (state.mapped < state.high && !state.calls.some((one) => one.source === "mapping"))
      add(`the mapping invokes the trigger for records below ${state.high}`, (s) => {
        s.calls.push(call({ source: "mapping", upTo: s.high }));
      });
    if (state.left.repeats > 0 && state.mapped > 0)
      add(
        "the mapping delivers again",
        (s) => {
          s.left.repeats--;
          s.calls.push(call({ source: "repeat" }));
        },
        true,
      );
    for (const run of state.events)
      add(`the rule calls the trigger: execution ${run} is over`, (s) => {
        s.events = s.events.filter((one) => one !== run);
        s.calls.push(call({ source: "rule", over: run }));
      });
    if (state.status === "stopped") {
      if (mutant === "resumeWakesFirst")
        add("resume wakes, and only then sets the status", (s) => {
          s.status = "resuming";
          s.calls.push(call({ source: "resume" }));
        });
      else
        add("resume sets the status, then wakes", (s) => {
          s.status = "running";
          s.calls.push(call({ source: "resume" }));
        });
    }
    if (state.status === "resuming")
      add("resume sets the status", (s) => {
        s.status = "running";
      });
    if (idleWindow && state.window === "open" && state.clock < 2)
      add(
        state.clock === 0
          ? "time passes: the silent partition is idle now"
          : "time passes: all partitions are idle now",
        (s) => {
          s.clock++;
        },
      );
    if (describeLag)
      state.executions.forEach((execution, index) => {
        if (execution.status !== "running" && !execution.shown)
          add(`DescribeExecution now shows that ${index + 1} is over`, (s) => {
            s.executions[index]!.shown = true;
          });
      });

    // ---- what the services answer
    const end = (s: State, run: number, status: "failed" | "succeeded") => {
      s.executions[run - 1]!.status = status;
      s.executions[run - 1]!.shown = !describeLag;
      if (status === "failed" && mutant !== "noRule") s.events.push(run);
    };
    /** The answers that DescribeExecution may give; "missing" where nothing of that name was ever started. */
    const describe = (run: number): ("running" | "over" | "missing")[] => {
      const execution = state.executions[run - 1];
      if (!execution) return ["missing"];
      if (execution.status === "running") return ["running"];
      return execution.shown ? ["over"] : ["over", "running"];
    };
    const start = (s: State, run: number) => {
      s.executions[run - 1] = { status: "running", at: "plan", attempt: 0, shown: true };
      s.calls.push(call({ kind: "plan", at: "wake", run }));
    };

    // ---- executions
    state.executions.forEach((execution, index) => {
      const run = index + 1;
      if (execution.status !== "running") return;
      if (execution.at === "process") {
        add(`execution ${run} processes and decides its attempt ${execution.attempt}`, (s) => {
          s.executions[index]!.at = "plan";
          s.calls.push(call({ kind: "plan", at: "wake", run }));
          if (!s.epoch || s.epoch.attempt !== execution.attempt) return; // fenced: abort, then Plan
          s.decided = s.epoch.to;
          if (s.epoch.window) s.window = "fired";
          else if (idleWindow && s.decided === bounds.data) s.window = "open";
          s.epoch = null;
        });
        if (state.left.stops > 0 && state.status === "running" && state.epoch?.attempt === execution.attempt)
          add(
            `execution ${run} finds its source gone: it stops the pipeline (I8)`,
            (s) => {
              s.left.stops--;
              s.status = "stopped";
              s.executions[index]!.at = fixed("stoppedGoesIdle") ? "plan" : "ending";
              if (fixed("stoppedGoesIdle")) s.calls.push(call({ kind: "plan", at: "wake", run }));
            },
            true,
          );
      }
      if (execution.at === "ending") add(`execution ${run} ends`, (s) => end(s, run, "succeeded"));
      if (execution.at === "commit") {
        const back = (s: State) => {
          s.executions[index]!.at = "plan";
          s.calls.push(call({ kind: "plan", at: "wake", run }));
        };
        add(`execution ${run} commits`, (s) => {
          s.committed = s.decided;
          back(s);
        });
        if (state.left.commitFailures > 0)
          add(
            `the commit of execution ${run} fails; it waits`,
            (s) => {
              s.left.commitFailures--;
              back(s);
            },
            true,
          );
      }
      if (state.left.crashes > 0) {
        add(
          `execution ${run} fails`,
          (s) => {
            s.left.crashes--;
            s.calls = s.calls.filter((one) => one.kind !== "plan" || one.run !== run || !one.live);
            end(s, run, "failed");
          },
          true,
        );
        if (state.left.zombies > 0 && state.calls.some((one) => one.kind === "plan" && one.run === run && one.live))
          add(
            `execution ${run} is aborted; its Plan invocation lives on`,
            (s) => {
              s.left.crashes--;
              s.left.zombies--;
              for (const one of s.calls) if (one.kind === "plan" && one.run === run) one.live = false;
              end(s, run, "failed");
            },
            true,
          );
      }
    });

    // ---- Lambda invocations
    state.calls.forEach((one, position) => {
      const who =
        one.kind === "plan" ? `Plan of ${one.run}${one.live ? "" : " (zombie)"}` : `the trigger (${one.source})`;
      const act = (label: string, change: (s: State, mine: Call) => void, fault = false) =>
        add(`${who} ${label}`, (s) => change(s, s.calls[position]!), fault);
      const leave = (s: State) => {
        s.calls.splice(position, 1);
      };
      if (one.kind === "plan") plan(state, one, act, leave);
      else trigger(state, one, act, leave);
    });
    return found;

    function plan(now: State, one: Call, act: Act, leave: (s: State) => void) {
      const { run } = one;
      const isOwner = (s: State) => s.wake.owner === run;
      /** What the state machine does next. A zombie's answer reaches nobody. */
      const answer = (s: State, at: "process" | "commit" | "again" | "end", attempt = 0) => {
        leave(s);
        if (!one.live) return;
        const execution = s.executions[run - 1]!;
        if (at === "end")
          execution.at = "ending"; // it still shows as RUNNING for a moment
        else if (at === "again") s.calls.push(call({ kind: "plan", at: "wake", run }));
        else {
          execution.at = at;
          execution.attempt = attempt;
        }
      };
      const goIdle = () => {
        const same = isOwner(now) && (now.wake.sequence === one.wake || mutant === "idleIgnoresWake");
        act(same ? "goes idle: releases the lease" : "cannot go idle: wake or owner changed", (s) => {
          if (same) s.wake.owner = 0;
          answer(s, same || !isOwner(s) ? "end" : "again");
        });
      };
      const readOffsets = (mine: Call, s: State) => {
        mine.stable = s.stable;
        mine.high = s.high;
        mine.clock = s.clock;
        mine.stopped = s.status !== "running";
      };
      if (one.at === "wake") {
        if (isOwner(now)) {
          act(`reads wake ${now.wake.sequence}`, (s, mine) => {
            mine.wake = s.wake.sequence;
            if (mutant === "wakeReadAfterOffsets") readOffsets(mine, s);
            mine.at = "offsets";
          });
        } else if (now.wake.owner === 0 && !fixed("grant")) {
          act("takes the free lease", (s) => {
            s.wake.owner = run;
            s.wake.run = Math.max(s.wake.run, run);
          });
        } else if (now.wake.owner === 0) {
          act("does not own the lease, and answers end", (s) => answer(s, "end"));
        } else
          for (const seen of describe(now.wake.owner)) {
            const owner = now.wake.owner;
            if (seen === "missing" && mutant !== "missingOwnerNotStarted")
              act(`meets the lease of ${owner}, which does not exist: starts it, and answers end`, (s) => {
                if (!s.executions[owner - 1]) start(s, owner);
                answer(s, "end");
              });
            else if (seen === "over" && !fixed("grant"))
              act(`finds the owner ${owner} over, and takes its lease`, (s) => {
                s.wake.owner = run;
                s.wake.run = Math.max(s.wake.run, run);
              });
            else act(`sees the owner ${owner} ${seen.toUpperCase()}, and answers end`, (s) => answer(s, "end"));
          }
      } else if (one.at === "offsets") {
        act(
          `reads HEAD${now.status === "running" ? "" : ": stopped"} and the end offsets: stable ${now.stable}, high ${now.high}`,
          (s, mine) => {
            if (mutant === "wakeReadAfterOffsets") mine.wake = s.wake.sequence;
            else readOffsets(mine, s);
            mine.at = "write";
          },
        );
      } else if (one.at === "write") {
        const windowDue = now.window === "open" && (one.clock === 1 || (one.clock === 2 && fixed("flushWhenAllIdle")));
        const windowWaits = now.window === "open" && one.clock === 0 && fixed("waitForIdle");
        const mayPlan = isOwner(now) || mutant === "planWithoutOwner";
        if (now.left.handOvers > 0 && isOwner(now) && !one.stopped) {
          const successor = now.wake.run + 1;
          if (mutant === "leasePassedInTwoWrites")
            act(
              "hands over: releases the lease",
              (s, mine) => {
                s.left.handOvers--;
                s.wake.owner = 0;
                mine.owner = successor;
                mine.at = "pass";
              },
              true,
            );
          else
            act(
              `hands over: passes the lease to ${successor} in one write`,
              (s, mine) => {
                s.left.handOvers--;
                s.wake.owner = s.wake.run = successor;
                mine.owner = successor;
                mine.at = "start";
              },
              true,
            );
        }
        if (one.stopped && !fixed("stoppedGoesIdle")) {
          act("finds the pipeline stopped, and answers end", (s) => answer(s, "end"));
        } else if (one.stopped) {
          goIdle();
        } else if (now.committed < now.decided && mutant !== "idleWithUncommitted") {
          act(isOwner(now) ? "answers commit" : "lost the lease, and answers end", (s) =>
            answer(s, isOwner(s) ? "commit" : "end"),
          );
        } else if (now.epoch || one.stable > now.decided || windowDue) {
          if (now.status !== "running") return act("cannot plan: HEAD changed", (s) => answer(s, "again"));
          act(mayPlan ? `plans attempt ${now.attempts + 1}` : "cannot plan without the lease, and answers end", (s) => {
            if (!mayPlan) return answer(s, "end");
            if (!isOwner(s)) s.broken = `lease: ${who(one)} plans while the owner is ${s.wake.owner}`;
            s.attempts++;
            s.epoch = {
              to: s.epoch?.to ?? Math.max(one.stable, s.decided),
              attempt: s.attempts,
              window: s.epoch?.window ?? one.stable <= s.decided,
            };
            answer(s, "process", s.attempts);
          });
        } else if ((one.stable < one.high && mutant !== "idleWhileTransactionOpen") || windowWaits) {
          act("answers wait", (s) => answer(s, "again"));
        } else if (mutant === "idleInTwoWrites") {
          act(`checks that wake is still ${one.wake}`, (s, mine) => {
            if (isOwner(s) && s.wake.sequence === mine.wake) mine.at = "release";
            else answer(s, isOwner(s) ? "again" : "end");
          });
        } else {
          goIdle();
        }
      } else if (one.at === "release") {
        act("releases the lease", (s) => {
          if (isOwner(s)) s.wake.owner = 0;
          answer(s, "end");
        });
      } else if (one.at === "pass") {
        act(`passes the lease to ${one.owner}`, (s, mine) => {
          if (s.wake.owner === 0) s.wake.owner = s.wake.run = mine.owner;
          mine.at = "start";
        });
      } else if (one.at === "start") {
        act(`starts execution ${one.owner}`, (s) => {
          if (!s.executions[one.owner - 1]) start(s, one.owner);
          answer(s, "end");
        });
      }
      if (one.live && now.left.retries > 0) {
        act(
          "dies, and is invoked again",
          (s, mine) => {
            s.left.retries--;
            Object.assign(mine, call({ kind: "plan", at: "wake", run }));
          },
          true,
        );
        if (now.left.zombies > 0)
          act(
            "times out and lives on; Plan is invoked again",
            (s, mine) => {
              s.left.retries--;
              s.left.zombies--;
              mine.live = false;
              s.calls.push(call({ kind: "plan", at: "wake", run }));
            },
            true,
          );
      }
    }

    function trigger(now: State, one: Call, act: Act, leave: (s: State) => void) {
      const success = (s: State) => {
        leave(s);
        if (one.source === "mapping") s.mapped = Math.max(s.mapped, one.upTo);
      };
      /** The mapping delivers again for ever; an asynchronous invocation is tried three times. */
      const fail = (s: State, mine: Call) => {
        if (one.source === "mapping") return leave(s);
        if (one.source === "repeat") return Object.assign(mine, call({ source: "repeat" }));
        if (one.tries === 2 && !fixed("queue")) return leave(s);
        Object.assign(mine, call({ source: one.source, over: one.over, tries: fixed("queue") ? 0 : one.tries + 1 }));
      };
      const read = (s: State, mine: Call) => {
        mine.owner = s.wake.owner;
        mine.lastRun = s.wake.run;
        mine.at = "describe";
      };
      if (one.at === "increment") {
        if (mutant === "leaseReadBeforeIncrement" && one.owner < 0)
          act(`reads the lease: owner ${now.wake.owner || "none"}`, (s, mine) => {
            read(s, mine);
            mine.at = "increment";
          });
        else
          act(
            `increments wake to ${now.wake.sequence + 1}, and gets the lease: ${now.wake.owner || "none"}, run ${now.wake.run}`,
            (s, mine) => {
              s.wake.sequence++;
              if (fixed("proof") && one.over > 0 && s.wake.owner === one.over) s.wake.owner = 0;
              if (mutant === "leaseReadBeforeIncrement") mine.at = "describe";
              else read(s, mine);
              if (s.status !== "running" && one.source !== "resume") success(s); // stopped: triggers only count
            },
          );
      } else if (one.at === "describe") {
        const next = Math.max(one.owner, one.lastRun) + 1;
        if (one.owner === 0)
          act("finds no lease", (_, mine) => {
            mine.at = "start";
            mine.run = next;
          });
        else
          for (const seen of describe(one.owner)) {
            if (seen === "running") act(`sees the owner ${one.owner} RUNNING: done`, success);
            else if (seen === "missing")
              act(`finds that the owner ${one.owner} does not exist`, (s, mine) => {
                if (mutant === "missingOwnerNotStarted") return success(s);
                mine.at = "started";
                mine.run = one.owner;
              });
            else
              act(`finds the owner ${one.owner} over`, (_, mine) => {
                mine.at = "start";
                mine.run = next;
              });
          }
      } else if (one.at === "start") {
        if (!fixed("grant"))
          act(`prepares to start ${one.run}`, (_, mine) => {
            mine.at = "started";
          });
        else
          act(
            now.wake.owner === one.owner && now.wake.run === one.lastRun
              ? `grants the lease to ${one.run}`
              : "finds the lease changed",
            (s, mine) => {
              if (s.wake.owner !== one.owner || s.wake.run !== one.lastRun) return read(s, mine);
              s.wake.owner = s.wake.run = one.run;
              mine.at = "started";
            },
          );
      } else if (one.at === "started") {
        const existing = now.executions[one.run - 1];
        const name = one.run;
        if (!existing)
          act(`starts execution ${name}`, (s) => {
            start(s, name);
            success(s);
          });
        else if (existing.status === "running") act(`starts execution ${name}: it runs already`, success);
        else if (mutant === "usedNameCountsAsStarted") act(`starts execution ${name}: the name is used`, success);
        else
          for (const seen of fixed("proof") && one.over === name ? (["over"] as const) : describe(name)) {
            if (seen === "running") act(`starts execution ${name}: the name is used, and it seems to run`, success);
            else
              act(
                `starts execution ${name}: the name is used, and it is over; raises run if it is still ${one.lastRun}, and reads the lease again`,
                (s, mine) => {
                  if (s.wake.run === one.lastRun) s.wake.run = Math.max(s.wake.run, name);
                  read(s, mine);
                },
              );
          }
        if (now.left.startFailures > 0) {
          const failed = (s: State, mine: Call) => {
            s.left.startFailures--;
            if (mutant === "triggerForgetsFailedStart") success(s);
            else fail(s, mine);
          };
          act("cannot start: StartExecution fails", failed, true);
          if (!existing)
            act(
              "starts, but the answer is lost",
              (s, mine) => {
                start(s, name);
                failed(s, mine);
              },
              true,
            );
        }
      }
    }
  }

  type Act = (label: string, change: (s: State, mine: Call) => void, fault?: boolean) => void;
  const who = (one: Call) => `Plan of ${one.run}`;
  return {
    initial,
    steps,
    violation: (state) => state.broken || null,
    // I7: everything that arrived is planned, decided and committed, and then nothing runs and nobody holds the lease.
    drained: (state) =>
      state.committed === state.high &&
      state.decided === state.high &&
      state.stable === state.high &&
      state.status === "running" &&
      state.window !== "open" &&
      !state.epoch &&
      state.wake.owner === 0 &&
      state.executions.every((one) => one.status !== "running") &&
      state.calls.length === 0,
  };
}
