/**
 * The inner modules of kafkajs that we use, and the only file that touches kafkajs: the seam at which another client could take its place. Pinned to exactly 2.2.4,
 * since they are no public API. What is its own: the encoding of fields, and SCRAM, which is loaded for a login by it alone; what is not used: its connections, cluster,
 * producer and consumer (protocol §10).
 */
export { default as Decoder } from "kafkajs/src/protocol/decoder.js";
export { default as Encoder } from "kafkajs/src/protocol/encoder.js";

export const loadScram = {
  "scram-sha-256": async () => (await import("kafkajs/src/broker/saslAuthenticator/scram256.js")).default,
  "scram-sha-512": async () => (await import("kafkajs/src/broker/saslAuthenticator/scram512.js")).default,
};
