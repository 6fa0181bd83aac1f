import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { DefinitionBody, LogLevel, StateMachine } from "aws-cdk-lib/aws-stepfunctions";
import type { Construct } from "constructs";
import definition from "../statemachines/checkpoint.asl.json" with { type: "json" };
import { acknowledge, acknowledgeWildcards } from "./acknowledged.ts";
import type { PipelineFunctions } from "./functions.ts";

/** The state machine of the one definition, with functions in its placeholders. */
export function coordinator(
  scope: Construct,
  name: string,
  functions: PipelineFunctions,
  logs: LogGroup,
): StateMachine {
  const { plan, fused, operate, decide, commit, abort, trigger } = functions;
  const role = new Role(scope, "CoordinatorRole", { assumedBy: new ServicePrincipal("states.amazonaws.com") });
  role.addToPolicy(
    new PolicyStatement({
      actions: ["lambda:InvokeFunction"],
      resources: [plan, fused, operate, decide, commit, abort, trigger].map(({ functionArn }) => functionArn),
    }),
  );
  acknowledgeWildcards(role, ["*"], "X-Ray and the delivery of logs know no resources.");
  const machine = new StateMachine(scope, "Coordinator", {
    stateMachineName: name,
    role,
    definitionBody: DefinitionBody.fromString(JSON.stringify(definition)),
    definitionSubstitutions: {
      PlanFunction: plan.functionArn,
      FusedFunction: fused.functionArn,
      OperateFunction: operate.functionArn,
      DecideFunction: decide.functionArn,
      CommitFunction: commit.functionArn,
      AbortFunction: abort.functionArn,
      TriggerFunction: trigger.functionArn,
    },
    tracingEnabled: true,
    logs: { destination: logs, level: LogLevel.ERROR, includeExecutionData: false },
  });
  acknowledge(machine, "AwsSolutions-SF1");
  return machine;
}
