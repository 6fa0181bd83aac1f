import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { type Answer, fakeAws, jsonError } from "../../test/support/fake-aws.ts";
import { abandonIn } from "./abandon.ts";
import { invoke } from "./invoke.ts";

const before = { ...process.env };
after(() => {
  process.env = before;
});

/** Where Lambda answers so to every invocation, or, given nothing, never does. Returns the inputs of invocations. */
async function lambda(context: TestContext, answer?: Answer): Promise<unknown[]> {
  const inputs: unknown[] = [];
  const service = (body: string) => {
    inputs.push(JSON.parse(body));
    return answer;
  };
  Object.assign(process.env, await fakeAws(context, { lambda: service }));
  return inputs;
}

const ok = (answer: unknown): Answer => ({ status: 200, body: JSON.stringify(answer) });
const wish = { sink: "counts", epoch: 7 } as const;

test("a function gets its event, and its answer comes back", async (context) => {
  const inputs = await lambda(context, ok({ outcomes: ["started"] }));
  assert.deepEqual(await invoke({}, "words-trigger", { source: "epochflow" }, 1000), { outcomes: ["started"] });
  assert.deepEqual(inputs, [{ source: "epochflow" }]);
});

test("one that fails says with what, and where more is said", async (context) => {
  const body = JSON.stringify({ errorType: "InfrastructureError", errorMessage: "the brokers are out of reach" });
  await lambda(context, { status: 200, body, headers: { "x-amz-function-error": "Unhandled" } });
  await assert.rejects(invoke({}, "words-trigger", {}, 1000), {
    code: "function-failed",
    message: "The function words-trigger has failed: the brokers are out of reach (InfrastructureError)",
    wayOut: /log/,
  });
});

test("one that is silent is not waited for without end", async (context) => {
  await lambda(context);
  await assert.rejects(invoke({}, "words-commit", {}, 200), {
    code: "unreachable",
    message: "The function words-commit did not answer within 0.2 s; it may be at work still",
  });
});

test("one that is gone, or may not be invoked, is named", async (context) => {
  await lambda(context, { ...jsonError("ResourceNotFoundException", "Function not found", 404) });
  await assert.rejects(invoke({}, "words-trigger", {}, 1000), {
    code: "resource-missing",
    message: /words-trigger/,
  });
  const action = "User: me is not authorized to perform: lambda:InvokeFunction on resource: arn";
  await lambda(context, { ...jsonError("AccessDeniedException", action, 403) });
  await assert.rejects(invoke({}, "words-trigger", {}, 1000), {
    code: "not-permitted",
    message: /words-trigger.*lambda:InvokeFunction/,
  });
});

test("to abandon is asked of the function that commits", async (context) => {
  const counts = { lost: 1, committed: 2, unknown: 0 };
  const inputs = await lambda(context, ok({ abandoned: { ...wish, ...counts } }));
  assert.deepEqual(await abandonIn({}, "words-commit", { ...wish, unasked: true }), counts);
  assert.deepEqual(inputs, [{ abandon: { ...wish, unasked: true } }]);
});

test("what is wrong with the wish comes back as it was; a function that does not know the wish is told from it", async (context) => {
  await lambda(
    context,
    ok({ error: { kind: "usage", code: "not-uncommitted", message: "epoch 7 is not", wayOut: "x" } }),
  );
  await assert.rejects(abandonIn({}, "words-commit", wish), { kind: "usage", code: "not-uncommitted", wayOut: "x" });
  await lambda(context, ok({ outcome: "committed" }));
  await assert.rejects(abandonIn({}, "words-commit", wish), { code: "other-version", message: /words-commit/ });
});
