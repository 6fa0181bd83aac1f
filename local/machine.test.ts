import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import validate from "asl-validator";
import { type Handlers, interpret } from "./machine.ts";

const definition = JSON.parse(readFileSync(new URL("../statemachines/checkpoint.asl.json", import.meta.url), "utf8"));

/** Runs the machine with Plan's answers in turn, and gives the calls that it made, in order. */
async function calls(answers: object[], handlers: Record<string, (input: never) => unknown> = {}): Promise<string[]> {
  const made: string[] = [];
  const record = (state: string, answer: unknown) => async (input: unknown) => {
    made.push(state === "Plan" || state === "Fused" ? state : `${state} ${JSON.stringify(input)}`);
    const handler = handlers[state];
    return handler ? handler(input as never) : answer;
  };
  const all: Handlers = {
    Plan: record("Plan", undefined),
    Fused: record("Fused", { action: "again" }),
    Operate: record("Operate", { outcome: "acknowledged" }),
    Decide: record("Decide", { outcome: "decided" }),
    Commit: record("Commit", { outcome: "committed" }),
    Seal: record("Seal", { outcome: "committed" }),
    "Abort unfinished": record("Abort unfinished", { outcome: "aborted", waitSeconds: 0 }),
    Abort: record("Abort", { outcome: "aborted", waitSeconds: 0 }),
    "Start owner": record("Start owner", {}),
  };
  const turn = answers.values();
  const plan = async (input: never) => {
    await all.Plan?.(input);
    return turn.next().value ?? { action: "end" };
  };
  await interpret("pipeline-uid-1", { ...all, Plan: plan }).result;
  return made;
}

const work = {
  action: "work",
  process: { epoch: 2, attempt: 1, stages: [{ tasks: [{ task: "a" }, { task: "b" }] }, { tasks: [{ task: "c" }] }] },
};
const commit = { epoch: 1, tasks: [{ epoch: 1, sink: "s" }], retrySeconds: 1 };

describe("the state machine", () => {
  it("is valid, and names no service but Lambda", () => {
    // As it is deployed: the placeholders become the functions' ARNs.
    const arn = "arn:aws:lambda:eu-central-1:123456789012:function:f";
    const deployed = JSON.parse(JSON.stringify(definition).replaceAll(/\$\{\w+\}/g, arn));
    const { isValid, errorsText } = validate(deployed);
    assert.ok(isValid, errorsText?.("\n"));
    const text = JSON.stringify(definition);
    for (const word of ["Assign", "QueryLanguage", "DISTRIBUTED", "arn:aws:states"])
      assert.ok(!text.includes(word), word);
  });

  it("has small epochs done by one function, and does what that answers", async () => {
    assert.deepEqual(await calls([{ ...work, action: "fused" }]), ["Plan", "Fused", "Plan"]);
    let given: unknown;
    const fused = (input: unknown) => {
      given = input;
      return { action: "work", commit };
    };
    const made = await calls([{ action: "fused", commit }], { Fused: fused as never });
    assert.deepEqual(given, { execution: "pipeline-uid-1", answer: { action: "fused", commit } });
    assert.deepEqual(made, ["Plan", "Fused", 'Commit {"epoch":1,"sink":"s"}', 'Seal {"epoch":1}', "Plan"]);
    const failing = () => {
      throw new Error("on purpose");
    };
    assert.deepEqual(await calls([{ action: "fused", commit }], { Fused: failing as never }), [
      ...["Plan", "Fused"],
      'Abort unfinished {"failure":{"Error":"Error","Cause":"on purpose"}}',
      "Plan",
    ]);
  });

  it("processes stage by stage, then decides, then plans", async () => {
    assert.deepEqual(await calls([work]), [
      "Plan",
      'Operate {"task":"a"}',
      'Operate {"task":"b"}',
      'Operate {"task":"c"}',
      'Decide {"epoch":2,"attempt":1}',
      "Plan",
    ]);
  });

  it("commits the epoch before beside it", async () => {
    const made = await calls([{ ...work, commit }]);
    assert.ok(made.includes('Commit {"epoch":1,"sink":"s"}') && made.includes('Seal {"epoch":1}'));
    assert.ok(made.indexOf('Commit {"epoch":1,"sink":"s"}') < made.indexOf('Decide {"epoch":2,"attempt":1}'));
  });

  it("aborts what is not decided, and tells why", async () => {
    const made = await calls([work], { Decide: () => ({ outcome: "incomplete" }) });
    assert.equal(made.at(-2), 'Abort {"epoch":2,"attempt":1,"failure":{"outcome":"incomplete"}}');
  });

  it("tries a failing task once more, then aborts with its error", async () => {
    const failing = () => {
      throw new Error("no disk");
    };
    const made = await calls([work], { Operate: failing });
    assert.ok(made.filter((one) => one === 'Operate {"task":"a"}').length === 2);
    // The interpreter still begins what it had queued; the protocol answers such tasks with "incomplete" or "fenced".
    assert.ok(made.some((one) => /^Abort .*no disk/.test(one)));
  });

  it("treats a lost answer of Decide as unknown: Abort finds out", async () => {
    const made = await calls([work], {
      Decide: () => {
        throw new Error("lost");
      },
    });
    assert.match(made.at(-2) ?? "", /^Abort .*lost/);
  });

  it("never lets a failing commit cancel the epoch beside it, nor the other way round", async () => {
    const failing = () => {
      throw new Error("no");
    };
    const commitFails = await calls([{ ...work, commit }], { Commit: failing });
    assert.ok(
      commitFails.includes('Decide {"epoch":2,"attempt":1}') && !commitFails.some((one) => one.startsWith("Abort")),
    );
    const bothFail = await calls([{ ...work, commit }], { Operate: failing, Abort: failing });
    assert.ok(bothFail.includes('Seal {"epoch":1}'));
    assert.equal(bothFail.at(-1), "Plan");
  });

  it("plans again after a failed Plan, and starts the owner of the lease when it is not itself", async () => {
    let failures = 0;
    const flaky = () => {
      if (failures++ === 0) throw new Error("throttled");
    };
    assert.deepEqual(
      await calls([{ action: "wait", seconds: 0 }, { action: "again" }, { action: "end", start: "p-u-2" }], {
        Plan: flaky,
      }),
      ["Plan", "Plan", "Plan", "Plan", 'Start owner {"start":"p-u-2"}'],
    );
  });
});
