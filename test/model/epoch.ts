// Model B: the life of an epoch (docs/protocol.md: §5 ledger, §8 collector, §9 file and Kafka sinks): plan, operate, decide, abort,
// commit, restore and collect, by two executions of which one may be a zombie that keeps running.
import { invariants } from "./epoch-invariants.ts";
import { type Call, type Fix, type Machine, type Mutant, readings, type Setup, type State } from "./epoch-state.ts";
import { copy, type Model, put, type Step, sortByText } from "./explore.ts";

export * from "./epoch-state.ts";

export function epoch(setup: Setup, fixes: Fix[] = [], mutant?: Mutant): Model<State> {
  const fixed = (fix: Fix) => fixes.includes(fix);
  const {
    crashes,
    duplicates,
    zombies,
    lostAnswers,
    failures,
    transactionTimeouts,
    sweeps,
    restores,
    abandons,
    losses,
    backups,
    weeks,
  } = setup;
  const {
    tasks,
    name,
    parse,
    fileRow,
    laneRow,
    hasFiles,
    hasLane,
    position,
    hasWork,
    rowsDone,
    store,
    drop,
    written,
    batches,
    previousOf,
    changed,
  } = readings(setup, mutant);
  const dead = (): Machine => ({ alive: false, process: null, commit: null, warm: null });
  const initial: State = {
    head: { decided: 0, committed: 0, status: "running" },
    owner: 0,
    epochs: [],
    acks: {},
    rows: {},
    objects: [],
    files: {},
    manifests: [],
    index: [],
    lane: { open: null, marker: 0, token: "", log: [] },
    machines: [{ ...dead(), alive: true }, dead()],
    calls: [],
    sweep: null,
    ghost: { decided: [], abandoned: [], lost: "", backups: 0 },
    left: {
      crashes,
      duplicates,
      zombies,
      lostAnswers,
      failures,
      transactionTimeouts,
      sweeps,
      restores,
      abandons,
      losses,
      backups,
      weeks,
    },
    broken: "",
  };

  /** The decision: one atomic conditional write (I3). True if it took effect. */
  function decide(s: State, n: number, a: number): boolean {
    const row = s.epochs[n - 1];
    if (row?.status !== "planned" || s.head.decided !== n - 1) return false;
    if (row.attempt !== a && mutant !== "decideWithoutAttempt") return false;
    if (mutant !== "decideWithoutAcks" && !tasks.every((t) => s.acks[`${n}.${a}.${t}`])) return false;
    row.status = "decided";
    row.fresh = true;
    row.checkpoint = tasks.map((t) =>
      changed(n, t) ? name("s", n, a, t, s.acks[`${n}.${a}.${t}`]?.nonce ?? 0) : s.epochs[n - 2]!.checkpoint[t - 1]!,
    );
    row.previous = previousOf(s, n);
    row.token = `${n}.${a}${s.ghost.backups ? ".again" : ""}`;
    if (tasks.some((t) => s.acks[`${n}.${a}.${t}`]?.to !== row.to))
      s.broken ||= `I1: epoch ${n} is decided with tasks that read another range`;
    if (hasLane(row)) put(s.rows, laneRow(n, a), { state: "prepared", name: "" });
    decided(s, n);
    return true;
  }
  function decided(s: State, n: number) {
    s.head.decided = n;
    const row = s.epochs[n - 1]!;
    const what = JSON.stringify([
      row.token,
      row.from,
      row.to,
      row.checkpoint,
      tasks.map((t) => s.acks[`${n}.${row.attempt}.${t}`]),
    ]);
    if (s.ghost.decided.length >= n) s.broken ||= `I1: epoch ${n} is decided a second time: epoch numbers went back`;
    s.ghost.decided[n - 1] = what;
  }
  /** InitProducerId, or a transaction time-out: the broker's producer epoch goes up, an open transaction is aborted. */
  function fence(s: State) {
    s.lane.open = null;
    for (const holder of [...s.calls, ...s.machines.flatMap((one) => one.warm ?? [])])
      if (holder.producer === "current") holder.producer = "fenced";
  }
  const stop = (s: State, why: string) => {
    if (s.head.status === "running") s.head.status = why;
  };

  function steps(state: State): Step<State>[] {
    const found: Step<State>[] = [];
    const add = (label: string, change: (next: State) => void, budget?: string) => {
      if (budget !== undefined && budget !== "" && !(state.left[budget]! > 0)) return;
      const next = copy(state);
      if (budget) next.left[budget]!--;
      change(next);
      sortByText(next.calls);
      found.push({ label, state: next, fault: budget !== undefined });
    };
    if (state.head.status !== "running") return found;
    state.machines.forEach((machine, x) => {
      if (machine.alive) execution(machine, x);
    });
    state.calls.forEach(invocation);
    world();
    return found;

    // ---- the state machine (§6)
    function execution(machine: Machine, x: number) {
      const who = `execution ${x + 1}`;
      const act = (label: string, change: (s: State, mine: Machine) => void, budget?: string) =>
        add(`${who} ${label}`, (s) => change(s, s.machines[x]!), budget);
      const release = (s: State, which: (one: Call) => boolean) => {
        for (const one of s.calls) if (one.x === x && which(one)) one.live = false;
      };
      if (!machine.process && !machine.commit) return plan(machine, x, act);
      if (machine.process) {
        const { n, a, stage } = machine.process;
        const row = state.epochs[n - 1]!;
        const current = row.attempt === a && row.status === "planned";
        const abort = (s: State, mine: Machine) => {
          mine.process!.stage = "abort";
          release(s, (one) => one.kind === "operate");
        };
        if (stage === "operate") {
          if (tasks.every((t) => state.acks[`${n}.${a}.${t}`]) || mutant === "decideWithoutAcks") {
            act(`decides epoch ${n} attempt ${a}`, (s, mine) => {
              const now = s.epochs[n - 1]!;
              if (decide(s, n, a) || (now.status === "decided" && now.attempt === a)) {
                mine.process = null;
                release(s, (one) => one.kind === "operate");
              } else abort(s, mine);
            });
            act(
              `decides epoch ${n} attempt ${a}; the answer is lost, it had an effect`,
              (s, mine) => {
                decide(s, n, a);
                abort(s, mine);
              },
              "lostAnswers",
            );
            act(
              `decides epoch ${n} attempt ${a}; time-out, the request is still on its way`,
              (s, mine) => {
                s.calls.push({
                  kind: "decide",
                  x,
                  n,
                  a,
                  t: 0,
                  nonce: 0,
                  at: "write",
                  live: false,
                  to: 0,
                  producer: "none",
                });
                abort(s, mine);
              },
              "lostAnswers",
            );
          } else if (!current) act(`learns that epoch ${n} attempt ${a} is fenced`, abort);
          else
            for (const t of tasks)
              if (
                !state.acks[`${n}.${a}.${t}`] &&
                !state.calls.some((one) => one.kind === "operate" && one.x === x && one.t === t && one.live)
              )
                act(`invokes task ${t} of epoch ${n} attempt ${a} again`, (s, mine) => {
                  invoke(s, x, n, a, t, ++mine.process!.nonces[t - 1]!);
                });
          act(
            `gives up epoch ${n} attempt ${a}; its tasks die`,
            (s, mine) => {
              abort(s, mine);
              s.calls = s.calls.filter((one) => one.x !== x || one.kind !== "operate");
            },
            "failures",
          );
          if (state.left.zombies! > 0)
            act(
              `times out on epoch ${n} attempt ${a}; its tasks live on`,
              (s, mine) => {
                s.left.zombies!--;
                abort(s, mine);
              },
              "failures",
            );
        } else if (stage === "abort") {
          const remove = (s: State) => drop(s, ...tasks.flatMap((t) => written(s, n, a, t)));
          if (mutant === "abortDeletesFirst")
            act(`aborts epoch ${n} attempt ${a}: deletes`, (s, mine) => {
              remove(s);
              mine.process!.stage = "delete";
            });
          else
            act(
              `aborts epoch ${n} attempt ${a}: ${row.status === "decided" && row.attempt === a ? "it is decided" : "fenced"}`,
              (s, mine) => {
                const now = s.epochs[n - 1]!;
                if (now.status === "decided" && now.attempt === a && mutant !== "abortIgnoresDecided") {
                  mine.process = null;
                  return;
                }
                if (now.status === "planned" && now.attempt === a) now.status = "fenced";
                mine.process!.stage = "delete";
              },
            );
        } else
          act(
            mutant === "abortDeletesFirst"
              ? `fences epoch ${n} attempt ${a}`
              : `deletes what epoch ${n} attempt ${a} acknowledged`,
            (s, mine) => {
              const now = s.epochs[n - 1]!;
              if (mutant === "abortDeletesFirst") {
                if (now.status === "planned" && now.attempt === a) now.status = "fenced";
              } else drop(s, ...tasks.flatMap((t) => written(s, n, a, t)));
              mine.process = null;
            },
          );
      }
      if (machine.commit) {
        const { n, seal, listed } = machine.commit;
        if (rowsDone(state, n) || mutant === "committedWithoutRows") {
          const union = (...all: number[]) => [...new Set(all)].sort();
          if (seal === "" && hasFiles(state.epochs[n - 1]!))
            act(`writes the manifest of epoch ${n}`, (s, mine) => {
              mine.commit!.seal = "sealed";
              s.manifests = union(...s.manifests, n);
            });
          else if (seal === "sealed" && setup.roll)
            act("lists manifests and index", (s, mine) => {
              mine.commit!.seal = "listed";
              mine.commit!.listed = fixed("indexIsImmutable") ? s.manifests : union(...s.manifests, ...s.index);
            });
          else if (seal === "listed")
            act(`writes an index of epochs ${listed}`, (s, mine) => {
              mine.commit!.seal = "indexed";
              s.index = fixed("indexIsImmutable") ? union(...s.index, ...listed) : listed;
            });
          else if (seal === "indexed")
            act(`deletes the manifests of epochs ${listed}`, (s, mine) => {
              mine.commit!.seal = "";
              s.manifests = s.manifests.filter((one) => !listed.includes(one));
              if (s.head.committed === n - 1) s.head.committed = n;
              mine.commit = null;
              release(s, (one) => one.kind !== "operate");
            });
          else
            act(`moves HEAD.committed to ${n}`, (s, mine) => {
              if (s.head.committed === n - 1) s.head.committed = n;
              mine.commit = null;
              release(s, (one) => one.kind !== "operate");
            });
        } else if (
          !state.calls.some((one) => one.x === x && one.live && (one.kind === "file" || one.kind === "lane"))
        ) {
          act(`goes back to Plan: commit ${n} is not complete`, (_, mine) => {
            mine.commit = null;
          });
        }
        if (state.calls.some((one) => one.x === x && one.live && one.kind !== "operate"))
          act(
            `gives up commit ${n} after a time-out; its invocations live on`,
            (s, mine) => {
              mine.commit = null;
              release(s, (one) => one.kind !== "operate");
            },
            "zombies",
          );
      }
      act(
        "dies with its invocations",
        (s) => {
          s.machines[x] = dead();
          s.calls = s.calls.filter((one) => one.x !== x);
        },
        "crashes",
      );
      if (state.left.zombies! > 0 && state.calls.some((one) => one.x === x && one.live))
        act(
          "dies; its invocations live on",
          (s) => {
            s.left.zombies!--;
            s.machines[x] = dead();
            release(s, () => true);
          },
          "crashes",
        );
    }

    type Act = (label: string, change: (s: State, mine: Machine) => void, budget?: string) => void;
    function plan(_: Machine, x: number, act: Act) {
      const { decided: last, committed } = state.head;
      const n = last + 1;
      if (state.owner !== x)
        return act("does not own the lease: ends", (s) => {
          s.machines[x] = dead();
        });
      const more = position(state) < setup.records || state.epochs.length > last;
      const commit = (s: State, mine: Machine, which: number) => {
        mine.commit = { n: which, seal: "", listed: [] };
        const row = s.epochs[which - 1]!;
        const begin = (kind: "file" | "lane", t: number) =>
          s.calls.push({
            kind,
            x,
            n: which,
            a: row.attempt,
            t,
            nonce: 0,
            at: "read",
            live: true,
            to: 0,
            producer: "none",
          });
        if (hasFiles(row)) for (const t of tasks) begin("file", t);
        if (hasLane(row)) begin("lane", 0);
      };
      const attempt = (s: State, mine: Machine, to?: number) => {
        const row = s.epochs[n - 1];
        if (!row)
          s.epochs.push({
            attempt: 1,
            status: "planned",
            from: position(s),
            to: Math.min(setup.records, position(s) + setup.step),
            restore: false,
            fresh: true,
            checkpoint: [],
            previous: 0,
            token: "",
            dropped: false,
            pinned: false,
          });
        else {
          row.attempt++;
          row.status = "planned";
          row.restore = false;
          if (to !== undefined) row.to = to;
        }
        const a = s.epochs[n - 1]!.attempt;
        mine.process = { n, a, stage: "operate", nonces: tasks.map(() => 1) };
        for (const t of tasks) invoke(s, x, n, a, t, 1);
      };
      const next = `epoch ${n} attempt ${(state.epochs[n - 1]?.attempt ?? 0) + 1}`;
      if (committed < last) {
        if (mutant === "commitWithoutOrder")
          for (let which = committed + 2; which <= last; which++)
            act(`plans: commit ${which}`, (s, mine) => commit(s, mine, which));
        if (setup.overlap && last - committed === 1 && more)
          act(`plans: commit ${last} beside ${next}`, (s, mine) => {
            commit(s, mine, last);
            attempt(s, mine);
          });
        else act(`plans: commit ${committed + 1}`, (s, mine) => commit(s, mine, committed + 1));
      } else if (more) {
        const row = state.epochs[n - 1];
        act(`plans ${next}`, (s, mine) => attempt(s, mine));
        if (row && row.to - row.from > 1)
          act(`plans ${next} with a smaller range, after a time-out`, (s, mine) => attempt(s, mine, row.to - 1));
        if (row && mutant === "replanReadsEndAgain" && row.to < setup.records)
          act(`plans ${next} up to the new end`, (s, mine) => {
            attempt(s, mine, setup.records);
            s.broken ||= "I1: a new attempt has a larger range";
          });
      } else
        act("goes idle", (s) => {
          s.machines[x] = dead();
          s.owner = -1;
        });
    }

    function invoke(s: State, x: number, n: number, a: number, t: number, nonce: number) {
      s.calls.push({ kind: "operate", x, n, a, t, nonce, at: "read", live: true, to: 0, producer: "none" });
    }

    // ---- Lambda invocations
    function invocation(one: Call, index: number) {
      const { kind, x, n, a, t, nonce } = one;
      const who = `${one.live ? "" : "zombie "}${kind === "operate" ? `task ${t} of ${n}.${a} (nonce ${nonce})` : kind === "decide" ? `decide ${n}.${a}` : `commit of ${n}, ${kind}${t || ""}`}`;
      const act = (label: string, change: (s: State, mine: Call) => void, budget?: string) =>
        add(`${who} ${label}`, (s) => change(s, s.calls[index]!), budget);
      const leave = (s: State) => {
        s.calls.splice(index, 1);
      };
      if (one.live) {
        act("crashes", leave, "crashes");
        if (kind === "operate" && one.at === "read")
          act(
            "is invoked twice",
            (s) => {
              s.calls.push({ ...one, live: false, nonce: 1 + s.machines[x]!.process!.nonces[t - 1]!++ });
            },
            "duplicates",
          );
        if (kind !== "operate" && one.at === "read")
          act(
            "is invoked twice",
            (s) => {
              s.calls.push({ ...one, live: false });
            },
            "duplicates",
          );
      }
      if (kind === "decide")
        return act("arrives", (s) => {
          leave(s);
          decide(s, n, a);
        });
      if (kind === "operate") return operate();
      if (kind === "file") return file();
      return lane();

      function operate() {
        const row = state.epochs[n - 1]!;
        const current = (s: State) => s.epochs[n - 1]!.attempt === a && s.epochs[n - 1]!.status === "planned";
        if (one.at === "read") {
          act(current(state) ? `reads its range [${row.from}, ${row.to})` : "finds its attempt fenced", (s, mine) => {
            if (!current(s)) return leave(s);
            mine.to = row.to;
            mine.at = "stage";
          });
        } else if (one.at === "stage") {
          const before = n === 1 ? [] : state.epochs[n - 2]!.checkpoint;
          if (!before.every((part) => state.objects.includes(part)))
            return act("misses a snapshot object", (s) => {
              leave(s);
              if (current(s) || mutant === "zombieMayStop")
                stop(s, `I8: a snapshot object of checkpoint ${n - 1} is missing`);
            });
          act("writes its objects", (s, mine) => {
            store(
              s,
              ...["s", ...(setup.files ? ["f"] : []), ...(setup.lane ? ["b"] : [])].map((what) =>
                name(what, n, a, t, nonce),
              ),
            );
            mine.at = "ack";
          });
        } else {
          const key = `${n}.${a}.${t}`;
          const first = state.acks[key];
          const ack = (s: State) => {
            put(s.acks, key, { nonce, to: one.to });
            if (setup.files) put(s.rows, fileRow(n, a, t), { state: "prepared", name: name("f", n, a, t, nonce) });
          };
          if (!first || mutant === "secondAckOverwrites") {
            act("acknowledges", (s) => {
              ack(s);
              leave(s);
            });
            act(
              "acknowledges, and asks again since the answer is lost",
              (s) => {
                ack(s);
              },
              "lostAnswers",
            );
          } else if (first.nonce === nonce && mutant !== "ackRetryIsLoser") act("finds its own ack: done", leave);
          else
            act("finds another ack, and deletes its own objects", (s) => {
              drop(s, ...["s", "f", "b"].map((what) => name(what, n, a, t, nonce)));
              leave(s);
            });
        }
      }

      /** A commit that finds its row gone or settled is a zombie's: done (I8). */
      function settled(s: State, key: string) {
        return s.rows[key]?.state !== "prepared";
      }

      function file() {
        const key = fileRow(n, a, t),
          final = `${n}.${t}`;
        const mark = (s: State) => {
          if (s.rows[key]?.state === "prepared") s.rows[key]!.state = "committed";
        };
        if (one.at === "read") {
          const wait = state.head.committed < n - 1 && mutant !== "commitWithoutOrder";
          act(
            settled(state, key)
              ? "is settled already"
              : wait
                ? "waits: an earlier epoch is not committed"
                : "reads its handle",
            (s, mine) => {
              if (settled(s, key) || wait) return leave(s);
              mine.at = "rename";
              if (mutant === "rowBeforeEffect") mark(s);
            },
          );
        } else if (one.at === "rename") {
          const staged = state.rows[key]?.name ?? "";
          if (state.objects.includes(staged) && !state.files[final])
            act("renames its file", (s, mine) => {
              drop(s, staged);
              put(s.files, final, staged);
              mine.at = "row";
            });
          else if (state.files[final] && mutant !== "renameMissingIsLoss")
            act("finds the final file with its digest", (_, mine) => {
              mine.at = "row";
            });
          else
            act("finds neither staged nor final file", (s) => {
              leave(s);
              if (!settled(s, key) || mutant === "zombieMayStop")
                stop(s, `I8: the staged file of epoch ${n} is missing`);
            });
        } else
          act("marks its row committed", (s) => {
            mark(s);
            leave(s);
          });
      }

      function lane() {
        const key = laneRow(n, a);
        const row = state.epochs[n - 1]!;
        const again = (mine: Call) => Object.assign(mine, { at: "read", producer: "none" });
        const mark = (s: State) => {
          if (s.rows[key]?.state === "prepared") s.rows[key]!.state = "committed";
        };
        const current = one.producer === "current";
        if (one.at === "read") {
          const wait = state.head.committed < n - 1 && mutant !== "commitWithoutOrder";
          const warm = setup.warm ? state.machines[x]!.warm : null;
          act(
            settled(state, key)
              ? "is settled already"
              : wait
                ? "waits: an earlier epoch is not committed"
                : "reads its handle",
            (s, mine) => {
              if (settled(s, key) || wait) return leave(s);
              if (mutant === "rowBeforeEffect") mark(s);
              if (warm && (warm.n === row.previous || mutant === "warmWithoutPrevious")) {
                mine.producer = warm.producer;
                mine.at = "produce";
                if (fixed("warmIsTaken")) s.machines[x]!.warm = null;
              } else mine.at = mutant === "markerBeforeInit" ? "marker" : "init";
            },
          );
        } else if (one.at === "init") {
          if (state.lane.open?.ending) return; // CONCURRENT_TRANSACTIONS until its markers are written
          act("calls InitProducerId", (s, mine) => {
            if (mutant !== "noInit") fence(s);
            mine.producer = "current";
            mine.at = mutant === "markerBeforeInit" ? "produce" : "marker";
          });
        } else if (one.at === "marker") {
          if (state.lane.open && mutant !== "markerBeforeInit" && mutant !== "noInit") {
            if (!state.lane.open.ending)
              act("cannot read the marker, an offset is pending (error 88): starts again", (_, mine) => {
                again(mine);
              });
            return; // requireStable
          }
          const { marker, token } = state.lane;
          if (fixed("rowAfterInit") && settled(state, key))
            return act("finds its row settled after InitProducerId", leave);
          act(`reads the marker: ${marker || "absent"}`, (s, mine) => {
            const next = mutant === "markerBeforeInit" ? "init" : "produce";
            if (marker === n && (token === row.token || mutant === "noTokenCheck")) mine.at = "row";
            else if (marker > n) {
              leave(s);
              if (!settled(s, key) || mutant === "zombieMayStop") stop(s, "I8: the ledger is older than Kafka");
            } else if (mutant === "noPreviousCheck") mine.at = next;
            else if (marker === 0 && absentIsFine(s)) mine.at = next;
            else if (marker !== 0 && marker === previous(s)) mine.at = next;
            else {
              leave(s);
              if (!settled(s, key) || mutant === "zombieMayStop")
                stop(s, `I8: unknown marker ${marker}, expected ${previous(s)}`);
            }
          });
        } else if (one.at === "produce") {
          if (!current)
            return act("is fenced: starts again", (s, mine) => {
              again(mine);
              if (s.machines[x]!.warm?.producer === "fenced") s.machines[x]!.warm = null;
            });
          if (state.lane.open?.ending) return; // CONCURRENT_TRANSACTIONS
          if (!batches(n, a, state).every((part) => state.objects.includes(part)))
            return act("misses its staged batches", (s) => {
              leave(s);
              if (!settled(s, key) || mutant === "zombieMayStop")
                stop(s, `I8: the staged batches of epoch ${n} are missing`);
            });
          act("produces its batches and its marker", (s, mine) => {
            s.lane.open = { n, token: row.token, ending: false };
            mine.at = "end";
          });
        } else if (one.at === "end") {
          if (!current || !state.lane.open)
            return act("cannot end its transaction: starts again", (_, mine) => {
              again(mine);
            });
          act("ends its transaction", (s, mine) => {
            s.lane.open!.ending = true;
            mine.at = "row";
          });
        } else
          act("marks its row committed", (s) => {
            mark(s);
            if (setup.warm && one.producer === "current" && one.live)
              s.machines[x]!.warm = { producer: one.producer, n };
            leave(s);
          });
        /** The last epoch whose marker Kafka should hold. */
        function previous(s: State): number {
          let at = row.previous;
          if (fixed("lookThroughAbandoned"))
            while (at > 0 && s.ghost.abandoned.includes(at)) at = s.epochs[at - 1]!.previous;
          return at;
        }
        /** Nothing was ever committed, or its marker has expired: n itself cannot be there. `fresh`: decided less than a day ago. */
        function absentIsFine(s: State): boolean {
          const before = previous(s);
          if (!row.fresh) return before === 0 && !fixed("alwaysFresh");
          return before === 0 || !s.epochs[before - 1]!.fresh || !fixed("absentOnlyIfExpired");
        }
      }
    }

    // ---- everything else that happens
    function world() {
      const { head, lane } = state;
      if (lane.open?.ending)
        add("Kafka writes the transaction's markers: it is visible", (s) => {
          const open = s.lane.open!;
          s.lane.log.push(open.token);
          s.lane.marker = open.n;
          s.lane.token = open.token;
          s.lane.open = null;
        });
      else if (lane.open) add("Kafka times the transaction out", fence, "transactionTimeouts");
      const between = state.calls.some((one) => one.kind === "lane" && one.at === "produce"); // after the read a loss cannot be seen
      if (lane.log.length > 0 && !lane.open && !between && setup.losses)
        add(
          "Kafka loses the lane's last transaction",
          (s) => {
            s.lane.log.pop();
            s.ghost.lost = "kafka";
            const before = s.lane.log.at(-1);
            s.lane.marker = before ? Number(before.split(".")[0]) : 0;
            s.lane.token = before ?? "";
          },
          "losses",
        );
      if (head.decided > 0 && setup.backups && state.owner >= 0)
        add(
          `the ledger is restored from a backup made before the decision of epoch ${head.decided}`,
          (s) => {
            const n = s.head.decided;
            Object.assign(s, { owner: -1, machines: [dead(), dead()], calls: [] });
            s.head.decided = n - 1;
            s.head.committed = Math.min(s.head.committed, n - 1);
            s.epochs.length = s.ghost.decided.length = n - 1;
            for (const table of [s.acks, s.rows])
              for (const key of Object.keys(table)) if (key.startsWith(`${n}.`)) delete table[key];
            s.ghost.lost = "ledger";
            s.ghost.backups++;
          },
          "backups",
        );
      // After a week without an answer the outcome of a commit is unknown: to stop is right then, to commit twice is not.
      if (!lane.open && setup.weeks)
        add(
          "a week passes: the marker expires",
          (s) => {
            for (const row of s.epochs) row.fresh = false;
            s.lane.marker = 0;
            s.lane.token = "";
            if (s.head.decided > s.head.committed) s.ghost.lost = "unknown";
          },
          "weeks",
        );

      const owner = state.machines[state.owner];
      const begin = (s: State, x: number) => {
        s.owner = x;
        s.machines[x] = { ...dead(), alive: true };
        for (const one of s.calls) if (one.x === x) one.live = false;
      };
      if (state.owner >= 0 && !owner!.alive) add("the trigger starts the next execution", (s) => begin(s, s.owner));
      if (state.owner === -1 && hasWork(state))
        add("the trigger starts an execution", (s) =>
          begin(
            s,
            state.machines.findIndex((one) => !one.alive),
          ),
        );
      if (state.owner === 0 && owner!.alive && !state.machines[1]!.alive)
        add("execution 2 gets the lease; execution 1 keeps running", (s) => begin(s, 1), "zombies");

      // Restore: epoch N+1 with an older checkpoint, by the usual transaction (§5). The checkpoint is pinned first.
      state.epochs.forEach((row, index) => {
        if (!(state.left.restores! > 0) || index + 1 >= head.decided || row.restore) return;
        if (!row.pinned && row.dropped) return; // one of the two loses
        if (!row.pinned) {
          add(
            `restore pins checkpoint ${index + 1}`,
            (s) => {
              s.epochs[index]!.pinned = true;
            },
            "",
          );
          return;
        }
        if (head.committed !== head.decided) return;
        const planned = state.epochs[head.decided];
        if (planned && !fixed("restoreReplacesPlan")) return;
        add(
          `restore decides epoch ${head.decided + 1} with checkpoint ${index + 1}`,
          (s) => {
            const n = mutant === "numbersGoBack" ? index + 1 : s.head.decided + 1;
            if (mutant === "numbersGoBack") {
              s.head.decided = s.head.committed = n;
              s.epochs.length = n;
              s.epochs[index]!.pinned = false;
              return;
            }
            s.epochs[n - 1] = {
              attempt: (s.epochs[n - 1]?.attempt ?? 0) + 1,
              status: "decided",
              from: position(s),
              to: row.to,
              restore: true,
              fresh: true,
              checkpoint: [...row.checkpoint],
              previous: previousOf(s, n),
              token: `${n}.restore`,
              dropped: false,
              pinned: false,
            };
            s.epochs[index]!.pinned = false;
            decided(s, n);
          },
          "restores",
        );
      });

      const waiting = state.epochs[head.committed];
      if (
        waiting &&
        head.decided > head.committed &&
        hasLane(waiting) &&
        state.rows[laneRow(head.committed + 1, waiting.attempt)]?.state === "prepared"
      ) {
        const n = head.committed + 1,
          key = laneRow(n, waiting.attempt);
        const free = !fixed("abandonFences") || !lane.open?.ending;
        if (free)
          add(
            `abandon --epoch ${n}${fixed("abandonFences") ? ": fences the lane, reads its marker" : ""}`,
            (s) => {
              if (fixed("abandonFences")) fence(s);
              if (fixed("abandonFences") && s.lane.marker === n) {
                s.rows[key]!.state = "committed";
                return;
              }
              s.rows[key]!.state = "abandoned";
              s.ghost.abandoned.push(n);
            },
            "abandons",
          );
      }
      collector();
    }

    function collector() {
      const readHead = (s: State) => {
        const { decided: last, committed } = s.head;
        return {
          decided: last,
          committed: mutant === "collectorTrustsDecided" ? last : committed,
          attempts: s.epochs.map((row) => row.attempt),
        };
      };
      const list = (s: State) => ({
        keep: s.epochs.flatMap((row, index) =>
          row.status === "decided" &&
          index < s.head.decided &&
          (!row.dropped || (row.pinned && mutant !== "collectorIgnoresPins"))
            ? row.checkpoint
            : [],
        ),
        names: [...s.objects],
      });
      const markDropped = (s: State, last: number) =>
        s.epochs.forEach((row, index) => {
          if (
            row.status === "decided" &&
            index + 1 <= last - setup.retain &&
            (!row.pinned || mutant === "collectorIgnoresPins")
          )
            row.dropped = true;
        });
      const garbage = (sweep: NonNullable<State["sweep"]>) =>
        sweep.names.filter((one) => {
          const { n, a } = parse(one);
          if (n <= sweep.committed) return !sweep.keep.includes(one);
          const known = sweep.attempts[n - 1];
          if (mutant === "collectorDeletesAbove") return a !== known;
          return known !== undefined && a < known;
        });
      const { sweep } = state;
      if (!sweep) {
        const listed = mutant === "collectorListsFirst";
        if (setup.sweeps)
          add(
            listed ? "the collector lists" : "the collector reads HEAD",
            (s) => {
              s.sweep = {
                at: "second",
                decided: 0,
                committed: 0,
                attempts: [],
                keep: [],
                names: [],
                ...(listed ? list(s) : readHead(s)),
              };
            },
            "sweeps",
          );
        const resting =
          setup.sweeps && state.calls.length === 0 && state.machines.every((one) => !one.alive) && !hasWork(state);
        if (resting)
          add("the collector sweeps at rest", (s) => {
            markDropped(s, s.head.decided);
            drop(s, ...garbage({ at: "", ...readHead(s), ...list(s) }));
          });
      } else if (sweep.at === "second") {
        add(
          mutant === "collectorListsFirst"
            ? "the collector reads HEAD"
            : "the collector marks dropped checkpoints, and lists",
          (s) => {
            const mine = s.sweep!;
            mine.at = "delete";
            if (mutant === "collectorListsFirst") return void Object.assign(mine, readHead(s));
            markDropped(s, mine.decided);
            Object.assign(mine, list(s));
          },
        );
      } else
        add("the collector deletes", (s) => {
          drop(s, ...garbage(s.sweep!));
          s.sweep = null;
        });
    }
  }

  return { initial, steps, ...invariants(setup, mutant) };
}
