import assert from "node:assert/strict";
import { test } from "node:test";
import { type PolicySettings, policyOf, settingsOf } from "./settings.ts";

const environment = { EPOCHFLOW_TABLE: "table", EPOCHFLOW_BUCKET: "bucket" };

test("a deployment chooses knobs; the others have their defaults", () => {
  const { parameters, policy } = settingsOf({
    ...environment,
    EPOCHFLOW_PARAMETERS: '{"input":"lines"}',
    EPOCHFLOW_POLICY: '{"intervalMs":2000,"eventBudget":500}',
  });
  assert.deepEqual(parameters, { input: "lines" });
  assert.deepEqual([policy.intervalMs, policy.paceMs, policy.eventBudget, policy.bounded], [2000, 2000, 500, false]);
  assert.equal(settingsOf(environment).policy.intervalMs, 10_000);
});

test("what is missing or wrong is named", () => {
  assert.throws(() => settingsOf({ EPOCHFLOW_TABLE: "table" }), {
    code: "missing-setting",
    message: /EPOCHFLOW_BUCKET/,
  });
  assert.throws(() => settingsOf(environment).stateMachineArn(), { message: /EPOCHFLOW_STATE_MACHINE_ARN/ });
  assert.throws(() => policyOf({ intervallMs: 5 } as PolicySettings), { message: /Did you mean "intervalMs"/ });
  assert.throws(() => policyOf({ eventBudget: 25_000 }), { message: /eventBudget is 25000.* from 1 to 20000/ });
  assert.throws(() => policyOf({ fused: 1 as never }), { message: /fused is 1.* true or false/ });
  assert.throws(() => policyOf({ attempts: 0.5 }), { message: /attempts is 0.5/ });
});
