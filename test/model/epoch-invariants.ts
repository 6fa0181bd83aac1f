// What must hold in every state of model B (protocol §2: I1 to I5 and I8), and when it is at rest.
import { type Mutant, readings, type Setup, type State } from "./epoch-state.ts";

export function invariants(setup: Setup, mutant?: Mutant) {
  const { tasks, name, hasFiles, hasLane, hasWork, rowsOf, batches } = readings(setup, mutant);

  function violation(s: State): string | null {
    if (s.broken) return s.broken;
    if (s.head.status !== "running") return s.ghost.lost ? null : `false alarm: ${s.head.status}`;
    const lane: string[] = [];
    for (let n = 1; n <= s.head.decided; n++) {
      const row = s.epochs[n - 1];
      if (!row) return `I3: epoch ${n} is decided without a row`;
      const what = JSON.stringify([
        row.token,
        row.from,
        row.to,
        row.checkpoint,
        tasks.map((t) => s.acks[`${n}.${row.attempt}.${t}`]),
      ]);
      if (what !== s.ghost.decided[n - 1]) return `I1: what epoch ${n} decided has changed`;
      if (!row.restore && row.from !== (n === 1 ? 0 : s.epochs[n - 2]!.to))
        return `I1: epoch ${n} does not start where ${n - 1} ended`;
      if (hasLane(row)) lane.push(row.token);
      // I5: what a retained checkpoint or an uncommitted decision names is there.
      if (!row.dropped || n === s.head.decided)
        for (const part of row.checkpoint)
          if (!s.objects.includes(part)) return `I5: checkpoint ${n} names ${part}, which is gone`;
      for (const key of rowsOf(row, n)) {
        const handle = s.rows[key];
        if (!handle) return `I5: epoch ${n} is decided without the row ${key}`;
        if (key.endsWith("lane")) {
          const effective =
            s.lane.log.includes(row.token) || (s.lane.open?.ending === true && s.lane.open.token === row.token);
          if (handle.state === "committed" && !effective && s.ghost.lost !== "kafka")
            return `I4: row ${key} says committed, but Kafka has nothing`;
          if (
            handle.state === "prepared" &&
            !effective &&
            !batches(n, row.attempt, s).every((part) => s.objects.includes(part))
          )
            return `I5: a staged batch of the uncommitted epoch ${n} is gone`;
        } else {
          const final = s.files[`${n}.${key.split("f")[1]}`];
          if (handle.state === "committed" && !final) return `I4: row ${key} says committed, but the file is not there`;
          if (handle.state === "prepared" && !final && !s.objects.includes(handle.name))
            return `I5: the staged file ${handle.name} of the uncommitted epoch ${n} is gone`;
        }
        if (n <= s.head.committed && handle.state === "prepared")
          return `I4: HEAD says that ${n} is committed, its row ${key} does not`;
      }
    }
    // I2 and I4: every final file is of a decided attempt, and of no epoch before an earlier one is complete.
    for (const [final, staged] of Object.entries(s.files)) {
      const n = Number(final.split(".")[0]),
        t = Number(final.split(".")[1]);
      const row = s.epochs[n - 1];
      if (
        !row ||
        n > s.head.decided ||
        staged !== name("f", n, row.attempt, t, s.acks[`${n}.${row.attempt}.${t}`]?.nonce ?? 0)
      )
        return `I2: the file of epoch ${n} task ${t} is ${staged}, not of the decided attempt`;
      for (let before = 1; before < n; before++)
        if (hasFiles(s.epochs[before - 1]!))
          for (const task of tasks)
            if (!s.files[`${before}.${task}`])
              return `I4: a file of epoch ${n} is visible before epoch ${before} is complete`;
    }
    for (let n = 1; n <= s.head.committed; n++)
      if (hasFiles(s.epochs[n - 1]!) && !s.manifests.includes(n) && !s.index.includes(n))
        return `I4: a reader of manifests no longer sees epoch ${n}`;
    for (const n of s.manifests)
      for (const t of tasks) if (!s.files[`${n}.${t}`]) return `I4: manifest ${n} names a file that is not there`;
    // I2, I4: the lane's log is the decided epochs' output: in order, each once, none of an undecided attempt.
    const expected = lane.filter(
      (token) => s.lane.log.includes(token) || !s.ghost.abandoned.includes(Number(token.split(".")[0])),
    );
    if (s.ghost.lost !== "ledger")
      for (const [index, token] of s.lane.log.entries()) {
        if (s.ghost.abandoned.includes(Number(token.split(".")[0])))
          return `abandoned epoch ${token} was counted as lost, and became visible`;
        if (token !== expected[index])
          return `I2/I4: the lane's log is ${s.lane.log.join(", ")}; decided: ${lane.join(", ")}`;
      }
    if (drained(s) && s.ghost.lost === "" && s.lane.log.length !== expected.length)
      return "I4: drained, but the lane lacks an epoch";
    return null;
  }

  function drained(s: State): boolean {
    if (s.head.status !== "running") return s.ghost.lost !== ""; // a real loss ends loudly
    const rest =
      !hasWork(s) &&
      s.owner === -1 &&
      s.calls.length === 0 &&
      s.machines.every((one) => !one.alive) &&
      !s.lane.open &&
      !s.sweep;
    if (!rest || !setup.sweeps) return rest;
    const kept = new Set(
      s.epochs.flatMap((row, index) => (index + 1 > s.head.decided - setup.retain || row.pinned ? row.checkpoint : [])),
    );
    return s.objects.every((one) => kept.has(one)); // garbage is collected
  }

  return { violation, drained };
}
