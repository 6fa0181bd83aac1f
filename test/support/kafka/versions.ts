/** Apache Kafka's versions that epochflow is tested with, the default first. */
export const kafkaVersions = ["4.4.0", "3.9.2"] as const;

export type KafkaVersion = (typeof kafkaVersions)[number];
