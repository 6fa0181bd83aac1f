import { existsSync } from "node:fs";
import { LeaseLock } from "../../shared/adapters/sqlite/lease-lock.ts";
import { type Decision, decidedIn } from "../../shared/epoch/epoch.ts";
import { describeError } from "../../shared/errors.ts";
import { finding } from "../../shared/finding.ts";
import { compareFingerprints, type Fingerprint, fingerprint } from "../../shared/pipeline/fingerprint.ts";
import type { Topology } from "../../shared/pipeline/topology.ts";
import type { Head, Ledger } from "../../shared/ports/ledger.ts";
import { openLedger, statePaths } from "../compose.ts";
import { displayPath } from "../paths.ts";
import { changedParameters } from "../remembered-parameters.ts";
import { checkWritable } from "./files.ts";
import type { CheckReport } from "./report.ts";

const topic = "state";

/** What other checks need of a state: nothing before the first run. */
export interface KnownState {
  readonly uid: string | undefined;
  readonly last: Decision | undefined;
}

/** @param topology with its parameters in it, under the name that it runs by */
export async function checkState(
  report: CheckReport,
  topology: Topology,
  parameters: Readonly<Record<string, string>>,
  state: string,
): Promise<KnownState> {
  report.add(topic, ...(await checkWritable(state)));
  const { ledger: file, lease } = statePaths(state);
  const unused = { uid: undefined, last: undefined };
  if (!existsSync(file)) {
    report.note(topic, `${displayPath(state)}: none yet, the first run makes it`);
    return unused;
  }
  if (isAtWork(lease))
    report.add(
      topic,
      finding(
        "warning",
        "state-in-use",
        `Another process works on ${displayPath(state)}`,
        "Wait for it to end, or give this pipeline a state of its own.",
        { file: state },
      ),
    );
  return (
    (await report.attempt(topic, async () => {
      const ledger = openLedger(state);
      try {
        const head = await ledger.head();
        if (head === undefined) return unused;
        for (const difference of await changedParameters(topology, parameters, state))
          report.add(
            topic,
            finding(
              "warning",
              "other-parameters",
              `Since the last run on this state a parameter has changed: ${difference}`,
              "If this is another pipeline, give it a --name of its own.",
              { file: state },
            ),
          );
        if (head.pipeline !== topology.name) {
          report.add(
            topic,
            finding(
              "error",
              "foreign-state",
              `${displayPath(state)} is the state of pipeline ${head.pipeline}, not of ${topology.name}`,
              "Give this pipeline a state folder of its own with --state, or its --name.",
              { file: state },
            ),
          );
          return unused;
        }
        checkHead(report, head, topology);
        await checkUncommitted(report, ledger, head);
        report.note(topic, `${displayPath(state)}: ${head.decided} epochs decided, ${head.committed} committed`);
        return { uid: head.uid, last: decidedIn(await ledger.epoch(head.decided)) };
      } finally {
        await ledger.close();
      }
    })) ?? unused
  );
}

function checkHead(report: CheckReport, { status, error, fingerprint: before }: Head, topology: Topology): void {
  for (const difference of compareFingerprints(JSON.parse(before) as Fingerprint, fingerprint(topology)))
    report.add(
      topic,
      finding(
        "error",
        "topology-changed",
        `The state belongs to the pipeline as it was: ${difference}`,
        "Bring it back to what it was, run it as another pipeline (--name), or begin anew: `epochflow reset`.",
        { pipeline: topology.name },
      ),
    );
  if (status === "paused")
    report.add(topic, finding("warning", "paused", "The pipeline is paused", "`epochflow resume` lets it go on."));
  if (status !== "stopped") return;
  const described = error ?? describeError(new Error("for no reason that is known"));
  const level = described.kind === "loss" ? "error" : "warning";
  const next =
    level === "error"
      ? "Once it is mended, `epochflow resume` lets it go on."
      : "Once it is mended, `epochflow run` tries again.";
  const { wayOut = "", place = {} } = described;
  report.add(
    topic,
    finding(
      level,
      described.code,
      `The pipeline is stopped: ${described.message}`,
      `${wayOut.replace(/([^.])$/, "$1.")} ${next}`.trim(),
      place,
    ),
  );
}

async function checkUncommitted(report: CheckReport, ledger: Ledger, { committed, decided }: Head): Promise<void> {
  if (committed === decided) return;
  const row = await ledger.epoch(committed + 1);
  const failure = row?.status === "decided" ? row.commitFailure : null;
  if (failure === null) return report.note(topic, `epoch ${committed + 1} waits for its commit, which comes first`);
  const { sink, error } = failure;
  report.add(
    topic,
    finding(
      "warning",
      error.code,
      `Epoch ${committed + 1} of sink ${sink} could not be committed so far: ${error.message}`,
      error.wayOut ?? "The next run tries again.",
      { sink, epoch: committed + 1 },
    ),
  );
}

function isAtWork(lease: string): boolean {
  if (!existsSync(lease)) return false;
  const lock = LeaseLock.tryAcquire(lease);
  lock?.release();
  return lock === undefined;
}
