/** `npm run deploy`: the pipeline on AWS, with brokers that Lambda can reach. For MSK: `Kafka.msk(cluster, { vpc })`. */
import { App, Stack } from "aws-cdk-lib";
import { type IVpc, Vpc } from "aws-cdk-lib/aws-ec2";
import { Kafka, StreamPipeline } from "epochflow/infra";

const app = new App();
const stack = new Stack(app, "orders");
// A VPC of its own, to begin with. Brokers that are there have one: Vpc.fromLookup(stack, "Vpc", { vpcId }).
const vpc = new Vpc(stack, "Vpc", { maxAzs: 2, natGateways: 0 }) as IVpc;
const bootstrapServers = app.node.tryGetContext("bootstrapServers") ?? "broker.example.com:9092";

new StreamPipeline(stack, "Orders", {
  entry: "pipeline.ts",
  kafka: Kafka.selfManaged({ bootstrapServers, vpc }),
  vpcSubnets: { subnets: vpc.isolatedSubnets.length > 0 ? vpc.isolatedSubnets : vpc.publicSubnets },
  gatewayEndpoints: true,
});
