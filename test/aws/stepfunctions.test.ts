import assert from "node:assert/strict";
import { CreateStateMachineCommand, StopExecutionCommand } from "@aws-sdk/client-sfn";
import { StepFunctionsExecutions } from "../../shared/adapters/stepfunctions/executions.ts";
import { operationOf } from "../support/emulator/aws-answers.ts";
import { useEmulator } from "../support/emulator/fixture.ts";
import { freshName } from "../support/emulator/services.ts";
import { anEmulator, needing } from "../support/needing.ts";
import { until } from "../support/until.ts";

const { test } = await needing(anEmulator);

const aws = useEmulator({ seed: 1, oneIn: 4 });

async function machine(seconds: number): Promise<string> {
  const definition = { StartAt: "Wait", States: { Wait: { Type: "Wait", Seconds: seconds, End: true } } };
  const command = new CreateStateMachineCommand({
    name: freshName("machine"),
    definition: JSON.stringify(definition),
    roleArn: "arn:aws:iam::000000000000:role/any",
  });
  return (await aws.clients.sfn.send(command)).stateMachineArn!;
}

for (const [how, clients] of [
  ["without faults", () => aws.clients],
  ["with faults", () => aws.faulty],
] as const)
  test(`a name is started once, by whoever of many comes first, ${how}`, async () => {
    const stateMachineArn = await machine(60);
    const executions = new StepFunctionsExecutions({ client: clients().sfn, stateMachineArn });
    assert.equal(await executions.describe("p-uid-1"), "missing");
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => executions.start("p-uid-1")));
    assert.ok(outcomes.includes("started"));
    assert.equal(await executions.describe("p-uid-1"), "running");
    const executionArn = `${stateMachineArn.replace(":stateMachine:", ":execution:")}:p-uid-1`;
    await aws.clients.sfn.send(new StopExecutionCommand({ executionArn }));
    await until("it is over", async () => (await executions.describe("p-uid-1")) === "over");
    assert.equal(await executions.start("p-uid-1"), "exists");
    assert.equal(await executions.start("p-uid-2"), "started");
  });

for (const fault of ["late reset", "late silent"] as const)
  test(`a start whose answer is lost is told that the name exists, and finds it running: ${fault}`, async () => {
    const executions = new StepFunctionsExecutions({ client: aws.faulty.sfn, stateMachineArn: await machine(60) });
    aws.proxy.inject(fault, (request) => operationOf(request) === "StartExecution");
    const outcome = await executions.start("once");
    assert.ok(outcome === "started" || outcome === "exists");
    assert.equal(await executions.describe("once"), "running");
  });

test("an execution that came to its end is over", async () => {
  const executions = new StepFunctionsExecutions({ client: aws.clients.sfn, stateMachineArn: await machine(0) });
  await executions.start("short");
  await until("it is over", async () => (await executions.describe("short")) === "over");
});

test("a state machine that is not there is named, with what to do", async () => {
  const stateMachineArn = "arn:aws:states:us-east-1:000000000000:stateMachine:none";
  const executions = new StepFunctionsExecutions({ client: aws.clients.sfn, stateMachineArn });
  await assert.rejects(executions.start("x"), { kind: "infrastructure", code: "resource-missing", message: /:none/ });
});
