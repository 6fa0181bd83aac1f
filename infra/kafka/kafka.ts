import { msk } from "./msk.ts";
import { selfManaged } from "./self-managed.ts";

/** Clusters that a pipeline's parameter `brokers` stands for: `kafka` of StreamPipeline. */
export const Kafka = {
  /**
   * Amazon MSK: access by IAM, with rights for the pipeline's topics, groups and transactional ids alone; or by SASL/SCRAM with a secret. The pipeline's functions lie in the VPC,
   * and the brokers' port is opened for them. A sink needs Kafka 3.6 or later, hence a provisioned cluster.
   *
   * @throws UsageError for options that are unknown or not allowed
   */
  msk,
  /**
   * Brokers that you run, or somebody else for you.
   *
   * @throws UsageError for options that are unknown or not allowed, or do not belong together
   */
  selfManaged,
} as const;
