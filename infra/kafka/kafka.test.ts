import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Duration, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { type IVpc, SecurityGroup, Vpc } from "aws-cdk-lib/aws-ec2";
import { Key } from "aws-cdk-lib/aws-kms";
import { CfnCluster } from "aws-cdk-lib/aws-msk";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { temporaryFolder } from "../../test/support/folder.ts";
import {
  findings,
  functionsOf,
  listOf,
  propertiesOf,
  quickApp,
  statementsOf,
  synthesize,
} from "../../test/support/template.ts";
import { Kafka, StreamPipeline, type StreamPipelineProps } from "../index.ts";
import { IamRights, literalPrefix } from "./iam-rights.ts";

const entry = "examples/word-count-kafka.ts";
const parameters = { input: "lines", output: "counts" };
const clusterArn = "arn:aws:kafka:eu-west-1:111122223333:cluster/main/0a1b2c-3";
const arn = (rest: string) => `arn:aws:kafka:eu-west-1:111122223333:${rest.replace("/", "/main/0a1b2c-3/")}`;

const project = temporaryFolder();
writeFileSync(join(project.path, "package-lock.json"), "");
after(() => project[Symbol.dispose]());

/** A module with a pipeline, of which this is the source and the sink. */
function moduleOf(name: string, source: string, sink = "files.sink({ path: 's3://data/out' })"): string {
  const file = join(project.path, `${name}.ts`);
  const lines = [
    'import { files, json, kafka, parameter, pipeline, text } from "epochflow";',
    `export default pipeline("${name}").from(${source}).to(${sink}, { id: "out" });`,
  ];
  writeFileSync(file, lines.join("\n"));
  return file;
}

const vpcOf = (stack: Stack) =>
  Vpc.fromVpcAttributes(stack, "Vpc", {
    ...{
      vpcId: "vpc-0a0a0a0a",
      availabilityZones: ["a", "b"],
      privateSubnetIds: ["subnet-0a0a0a0a", "subnet-0b0b0b0b"],
    },
  }) as IVpc;

const clusterIn = (stack: Stack) =>
  new CfnCluster(stack, "Cluster", {
    brokerNodeGroupInfo: {
      ...{ clientSubnets: ["subnet-0a0a0a0a"], instanceType: "kafka.m7g.large", securityGroups: ["sg-0b0b0b0b"] },
    },
    ...{ clusterName: "main", kafkaVersion: "3.8.x", numberOfBrokerNodes: 2 },
  });

const withMsk = (props: Partial<StreamPipelineProps> = {}) =>
  synthesize((stack) => ({ entry, parameters, kafka: Kafka.msk(clusterArn, { vpc: vpcOf(stack) }), ...props }));
const msk = withMsk();

const inStack = synthesize((stack) => ({
  ...{ entry, parameters },
  kafka: Kafka.msk(clusterIn(stack), { vpc: vpcOf(stack) }),
}));

/** The cluster itself is the test's. */
const isOfPipeline = (finding: string) => !finding.includes("stack/Cluster");

const scram = synthesize((stack) => {
  const key = new Key(stack, "Key", { enableKeyRotation: true });
  const secret = Secret.fromSecretAttributes(stack, "Secret", {
    secretCompleteArn: "arn:aws:secretsmanager:eu-west-1:111122223333:secret:AmazonMSK_words-AbCdEf",
    encryptionKey: key,
  });
  const cluster = clusterIn(stack);
  return { entry, parameters, kafka: Kafka.msk(cluster, { secret, vpc: vpcOf(stack) }), encryptionKey: key };
});

const selfManaged = synthesize((stack) => {
  const named = (name: string) => Secret.fromSecretNameV2(stack, name, name);
  const kafka = Kafka.selfManaged({
    ...{
      bootstrapServers: "b-1:9093, b-2:9093",
      secret: named("user"),
      mechanism: "scram-sha-256",
      ca: named("authority"),
    },
    vpc: vpcOf(stack),
  });
  return { entry, parameters, kafka, batchingWindow: Duration.seconds(1) };
});

const mappingsOf = (template: Template) =>
  propertiesOf(template, "AWS::Lambda::EventSourceMapping").filter(({ Topics }) => Topics);

/** Kafka's actions, by the name of the function: `["Connect cluster/main/…"]`. */
function kafkaRightsOf(template: Template, name: string): string[] {
  return statementsOf(template)
    .filter(([policy]) => policy.startsWith(`Words${name}Role`))
    .flatMap(([, { Action, Resource }]) =>
      listOf(Action).flatMap((action) => listOf(Resource).map((resource) => `${action} ${resource}`)),
    )
    .filter((right) => right.startsWith("kafka-cluster:"))
    .map((right) => right.replace("kafka-cluster:", ""))
    .sort();
}

test("functions that talk to brokers lie in the VPC, know how to get in, and are told no secret", () => {
  for (const [name, { VpcConfig, Environment }] of Object.entries(functionsOf(msk.template))) {
    const talks = ["plan", "fused", "operate", "commit"].includes(name);
    assert.deepEqual(VpcConfig?.SubnetIds, talks ? ["subnet-0a0a0a0a", "subnet-0b0b0b0b"] : undefined, name);
    const access = JSON.stringify(Environment.Variables.EPOCHFLOW_KAFKA);
    assert.equal(talks, /aws-msk-iam/.test(access ?? ""), name);
    assert.match(JSON.stringify(Environment.Variables.EPOCHFLOW_PARAMETERS), /BootstrapBrokerStringSaslIam/);
  }
});

test("by IAM a function may do to topics, groups and transactions what it does, and no more", () => {
  const cluster = `Connect ${clusterArn}`;
  const reads = [`DescribeTopic ${arn("topic/lines")}`, `ReadData ${arn("topic/lines")}`];
  const describes = [
    `DescribeClusterDynamicConfiguration ${clusterArn}`,
    `DescribeTopic ${arn("topic/counts")}`,
    `DescribeTopicDynamicConfiguration ${arn("topic/counts")}`,
  ];
  assert.deepEqual(kafkaRightsOf(msk.template, "Operate"), [cluster, ...describes, ...reads].sort());
  assert.deepEqual(kafkaRightsOf(msk.template, "Plan"), kafkaRightsOf(msk.template, "Operate"));
  const own = "epochflow.word-count-kafka.*";
  const commits = [
    ...[`WriteDataIdempotently ${clusterArn}`, `WriteData ${arn("topic/counts")}`, `ReadData ${arn("topic/counts")}`],
    ...["AlterTransactionalId", "DescribeTransactionalId"].map(
      (action) => `${action} ${arn(`transactional-id/${own}`)}`,
    ),
    ...["AlterGroup", "DescribeGroup"].map((action) => `${action} ${arn(`group/${own}`)}`),
  ];
  assert.deepEqual([...new Set(kafkaRightsOf(msk.template, "Commit"))], [cluster, ...describes, ...commits].sort());
  assert.deepEqual(
    [...new Set(kafkaRightsOf(msk.template, "Fused"))],
    [cluster, ...describes, ...commits, ...reads].sort(),
  );
  for (const name of ["Decide", "Abort", "Collect"]) assert.deepEqual(kafkaRightsOf(msk.template, name), []);
});

test("under a weaker guarantee the tasks write to the topics, in no transaction", () => {
  const use = { pipeline: "words", source: ["lines"], sinks: [{ topic: "counts", markerTopic: "counts" }] };
  const actionsOf = (publishes: boolean) =>
    new IamRights(clusterArn).of("operate", { ...use, publishes }).flatMap(({ actions }) => actions);
  const [exactly, weaker] = [false, true].map((publishes) => new Set(actionsOf(publishes)));
  const more = [...weaker!].filter((action) => !exactly!.has(action)).sort();
  assert.deepEqual(more, ["kafka-cluster:WriteData", "kafka-cluster:WriteDataIdempotently"]);
});

test("each topic of the source has a mapping, from its start, with a group of its own", () => {
  const { template } = synthesize((stack) => ({
    entry: moduleOf("two", 'kafka.source({ topics: [parameter("input"), "others", "others"], value: text() })'),
    parameters: { input: "lines" },
    kafka: Kafka.msk(clusterArn, { vpc: vpcOf(stack) }),
  }));
  const mappings = mappingsOf(template);
  assert.deepEqual(
    mappings.map(({ Topics }) => Topics),
    [["lines"], ["others"]],
  );
  for (const mapping of mappings) {
    assert.deepEqual([mapping.StartingPosition, mapping.EventSourceArn], ["TRIM_HORIZON", clusterArn]);
    assert.equal(mapping.MaximumBatchingWindowInSeconds, 5);
    assert.match(JSON.stringify(mapping.DestinationConfig.OnFailure), /RecordsFailed/);
    assert.equal(mapping.SourceAccessConfigurations, undefined);
  }
  const groups = mappings.map(
    ({ AmazonManagedKafkaEventSourceConfig: { ConsumerGroupId } }) => ConsumerGroupId as string,
  );
  assert.equal(new Set(groups).size, 2);
  for (const group of groups) assert.match(group, /^epochflow\.two\.trigger\.[\w.-]{1,150}$/);
  const polls = kafkaRightsOf(template, "Trigger");
  for (const group of groups) assert.ok(polls.includes(`AlterGroup ${arn(`group/${group}`)}`));
  assert.ok(polls.every((right) => !right.includes("*")));
});

test("a batch that Lambda gives up is a message, which trigger gets until it is served or given up, too", () => {
  for (const { template, pipeline } of [msk, selfManaged]) {
    const queues = Object.entries(template.findResources("AWS::SQS::Queue"));
    const [failed, { Properties }] = queues.find(([id]) => /RecordsFailed/.test(id))!;
    const target = { "Fn::GetAtt": [failed, "Arn"] };
    const sources = propertiesOf(template, "AWS::Lambda::EventSourceMapping");
    const consuming = sources.filter(({ EventSourceArn }) => JSON.stringify(EventSourceArn) === JSON.stringify(target));
    assert.deepEqual(
      consuming.map(({ FunctionName }) => /WordsTriggerFunction/.test(JSON.stringify(FunctionName))),
      [true],
    );
    assert.ok(Properties.VisibilityTimeout >= 6 * functionsOf(template).trigger!.Timeout);
    assert.match(JSON.stringify(Properties.RedrivePolicy), /RecordsDeadLetters/);
    assert.ok(pipeline.alarms.deadLetters.some(({ node }) => node.id === "RecordsDeadLettersNotEmpty"));
    const sending = statementsOf(template).filter(([, { Action }]) => Action === "sqs:SendMessage");
    assert.deepEqual(
      sending.map(([policy, { Resource }]) => [/^WordsTriggerRole/.test(policy), Resource]),
      [[true, target]],
    );
  }
});

test("a pattern has a mapping for each trigger topic, or none and the heartbeat", () => {
  const pattern = moduleOf("matching", "kafka.source({ pattern: /orders-\\d+/, value: text() })");
  const withPattern = (props: Partial<StreamPipelineProps>) => withMsk({ entry: pattern, parameters: {}, ...props });
  const { template, app } = withPattern({ triggerTopics: ["orders-1"], heartbeat: "off" });
  assert.deepEqual(
    mappingsOf(template).map(({ Topics }) => Topics),
    [["orders-1"]],
  );
  assert.ok(kafkaRightsOf(template, "Plan").includes(`ReadData ${arn("topic/orders-*")}`));
  assert.deepEqual(findings(app), []);
  assert.equal(mappingsOf(withPattern({}).template).length, 0);
  assert.throws(() => withPattern({ heartbeat: "off" }), { code: "never-woken", message: /matching/ });
});

test("a pattern's literal beginning limits what may be read", () => {
  const prefixes = [/orders-.*/, /^orders-[ab]/, /lines?/, /lines*/, /a|b/, /.*/, /in\.put/, /Lines/i];
  assert.deepEqual(prefixes.map(literalPrefix), ["orders-", "orders-", "line", "line", "", "", "in", ""]);
});

test("by SCRAM the secret is for those who log in, with its key; brokers let the pipeline in", () => {
  const { template } = scram;
  const reading = statementsOf(template).filter(([, { Action }]) => Action === "secretsmanager:GetSecretValue");
  assert.deepEqual(reading.map(([policy]) => /^Words(\w+)Role/.exec(policy)?.[1]).sort(), [
    "Commit",
    "Fused",
    "Operate",
    "Plan",
    "Trigger",
  ]);
  assert.match(JSON.stringify(functionsOf(template).plan), /scram-sha-512/);
  const [mapping] = mappingsOf(template);
  assert.deepEqual(
    mapping?.SourceAccessConfigurations.map(({ Type }: { Type: string }) => Type),
    ["SASL_SCRAM_512_AUTH"],
  );
  const ingress = propertiesOf(template, "AWS::EC2::SecurityGroupIngress");
  assert.deepEqual(
    ingress.map(({ GroupId, FromPort }) => [GroupId, FromPort]),
    [
      ["sg-0b0b0b0b", 9096],
      ["sg-0b0b0b0b", 9096],
    ],
  );
  assert.ok(ingress.some(({ SourceSecurityGroupId }) => SourceSecurityGroupId === "sg-0b0b0b0b"));
});

test("a secret's own key decrypts it for those who log in", () => {
  const { template } = synthesize((stack) => {
    const secret = Secret.fromSecretAttributes(stack, "Secret", {
      secretCompleteArn: "arn:aws:secretsmanager:eu-west-1:111122223333:secret:AmazonMSK_words-AbCdEf",
      encryptionKey: Key.fromKeyArn(stack, "Its", "arn:aws:kms:eu-west-1:111122223333:key/secret"),
    });
    return { entry, parameters, kafka: Kafka.msk(clusterArn, { secret, vpc: vpcOf(stack) }) };
  });
  const decrypting = statementsOf(template).filter(([, { Action }]) => Action === "kms:Decrypt");
  assert.deepEqual(decrypting.map(([policy]) => /^Words(\w+)Role/.exec(policy)?.[1]).sort(), [
    ...["Commit", "Fused", "Operate", "Plan", "Trigger"],
  ]);
  assert.ok(decrypting.every(([, { Resource }]) => Resource === "arn:aws:kms:eu-west-1:111122223333:key/secret"));
});

test("a cluster with connections opens its port; the pipeline has connections for others", () => {
  const { template, pipeline } = synthesize((stack) => {
    const vpc = vpcOf(stack);
    const brokers = new SecurityGroup(stack, "Brokers", { vpc });
    return { entry, parameters, kafka: Kafka.msk({ clusterArn, connections: brokers.connections }), vpc };
  });
  assert.deepEqual(
    propertiesOf(template, "AWS::EC2::SecurityGroupIngress").map(({ FromPort }) => FromPort),
    [9098, 9098],
  );
  assert.equal(pipeline.connections.securityGroups.length, 1);
});

test("pipelines share a cluster, in its stack and in others", () => {
  const app = quickApp();
  const shared = new Stack(app, "shared");
  const vpc = vpcOf(shared);
  const cluster = clusterIn(shared);
  const other = new Stack(app, "other");
  const pipelineIn = (stack: Stack, id: string) =>
    new StreamPipeline(stack, id, { entry, parameters, kafka: Kafka.msk(cluster, { vpc }) });
  for (const [stack, id] of [
    [shared, "One"],
    [shared, "Two"],
    [other, "Three"],
  ] as const)
    pipelineIn(stack, id);
  const rulesIn = (stack: Stack) =>
    propertiesOf(Template.fromStack(stack), "AWS::EC2::SecurityGroupIngress").map(({ SourceSecurityGroupId }) =>
      JSON.stringify(SourceSecurityGroupId),
    );
  const rules = rulesIn(shared);
  assert.equal(rules.length, 3, "from itself, once, and from two pipelines");
  assert.equal(new Set(rules).size, 3);
  assert.deepEqual(rulesIn(other).length, 1);
});

test("the rule that lets the brokers' group itself in is left out where another stack has made it", () => {
  const { template } = synthesize((stack) => {
    const brokers = SecurityGroup.fromSecurityGroupId(stack, "Brokers", "sg-0b0b0b0b");
    return { entry, parameters, kafka: Kafka.msk(clusterArn, { vpc: vpcOf(stack), brokers, selfIngress: false }) };
  });
  const ingress = propertiesOf(template, "AWS::EC2::SecurityGroupIngress");
  assert.deepEqual(
    ingress.map(({ GroupId, SourceSecurityGroupId }) => [GroupId, typeof SourceSecurityGroupId]),
    [["sg-0b0b0b0b", "object"]],
  );
});

test("brokers of one's own are polled where the functions lie, with the same secrets", () => {
  const { template } = selfManaged;
  const [mapping] = mappingsOf(template);
  assert.deepEqual(mapping?.SelfManagedEventSource.Endpoints.KafkaBootstrapServers, ["b-1:9093", "b-2:9093"]);
  assert.equal(mapping?.MaximumBatchingWindowInSeconds, 1);
  const types = mapping?.SourceAccessConfigurations.map(({ Type }: { Type: string }) => Type);
  const places = ["VPC_SUBNET", "VPC_SUBNET", "VPC_SECURITY_GROUP"];
  assert.deepEqual(types, ["SASL_SCRAM_256_AUTH", "SERVER_ROOT_CA_CERTIFICATE", ...places]);
  const { Variables } = functionsOf(template).operate!.Environment;
  assert.match(JSON.stringify(Variables.EPOCHFLOW_KAFKA), /tls.*true.*scram-sha-256/);
  assert.equal(Variables.EPOCHFLOW_PARAMETERS, '{"brokers":"b-1:9093,b-2:9093","input":"lines","output":"counts"}');
});

test("without a secret connections in a VPC are plain", () => {
  const { template } = synthesize((stack) => ({
    ...{ entry, parameters },
    kafka: Kafka.selfManaged({ bootstrapServers: ["b-1:9092"], vpc: vpcOf(stack) }),
  }));
  assert.equal(functionsOf(template).plan?.Environment.Variables.EPOCHFLOW_KAFKA, '{"tls":false}');
});

test("rights of a cluster in the same stack are made of its ARN when it is deployed", () => {
  const commits = statementsOf(inStack.template).filter(([, { Action }]) =>
    listOf(Action).includes("kafka-cluster:AlterGroup"),
  );
  const before = '{"Fn::Select":[0,{"Fn::Split":[":cluster/",{"Fn::GetAtt":["Cluster","Arn"]}]}]},":group/"';
  assert.ok(commits.length > 0 && commits.every(([, { Resource }]) => JSON.stringify(Resource).includes(before)));
});

test("no action is a wildcard, and what is for every resource is forced by AWS", () => {
  const allowed = /^(xray|logs|ec2):/;
  for (const { template } of [msk, inStack, scram, selfManaged])
    for (const [policy, { Action, Resource }] of statementsOf(template))
      for (const action of listOf(Action)) {
        assert.ok(!action.includes("*"), `${policy}: ${action}`);
        assert.ok(Resource !== "*" || allowed.test(action), `${policy}: ${action} of everything`);
      }
});

test("cdk-nag's AWS Solutions pass", () => {
  assert.deepEqual(findings(msk.app), []);
  assert.deepEqual(findings(inStack.app).filter(isOfPipeline), []);
  assert.deepEqual(findings(selfManaged.app), []);
  assert.deepEqual(findings(scram.app).filter(isOfPipeline), []);
});

test("what is wrong fails at synth, by name", () => {
  const files = moduleOf("lines", 'files.source({ path: "s3://data/in/", value: text() })');
  assert.throws(() => synthesize(() => ({ entry, parameters })), {
    code: "missing-kafka",
    message: /word-count-kafka/,
  });
  assert.throws(() => withMsk({ entry: files, parameters: {} }), { code: "unused-kafka" });
  assert.throws(() => synthesize(() => ({ entry, parameters, kafka: Kafka.msk(clusterArn) })), { code: "missing-vpc" });
  const open = Kafka.selfManaged({ bootstrapServers: "b-1:9092" });
  assert.throws(() => synthesize(() => ({ entry, parameters, kafka: open })), { code: "missing-vpc" });
  assert.throws(() => withMsk({ batchingWindow: Duration.minutes(6) }), { message: /360 s/ });
  assert.throws(() => withMsk({ parameters: { input: "lines" } }), { code: "missing-parameter" });
  assert.throws(() => Kafka.msk(clusterArn, { vpcSubnet: {} } as never), { message: /Did you mean "vpcSubnets"/ });
  for (const wrong of [{}, undefined, null, "", 7])
    assert.throws(() => Kafka.msk(wrong as never), { code: "invalid-option", message: /cluster of MSK/ });
  for (const wrong of ["no-arn", "arn:aws:sqs:eu-west-1:111122223333:main"])
    assert.throws(() => Kafka.msk(wrong), { message: RegExp(`"${wrong}" is no ARN`) });
  for (const triggerTopics of ["lines", [7], [""], null])
    assert.throws(() => withMsk({ triggerTopics } as never), { code: "invalid-option", message: /^triggerTopics is/ });
  assert.throws(() => Kafka.selfManaged({ bootstrapServer: "b:1" } as never), {
    message: /Did you mean "bootstrapServers"/,
  });
  assert.throws(() => Kafka.selfManaged({ bootstrapServers: " " }), { message: /must name a broker/ });
  const mechanism = { bootstrapServers: "b:1", mechanism: "scram-sha512" } as never;
  assert.throws(() => Kafka.selfManaged(mechanism), { message: /Did you mean "scram-sha-512"/ });
  const noSecret = { bootstrapServers: "b:1", mechanism: "plain" } as const;
  assert.throws(() => Kafka.selfManaged(noSecret), { message: /needs a secret/ });
});
