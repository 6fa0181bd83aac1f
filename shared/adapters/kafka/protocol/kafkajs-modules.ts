/**
 * The inner modules of kafkajs that we use, and the only file that touches kafkajs: the seam at which another client could take its place. Pinned to exactly 2.2.4,
 * since they are no public API. What is its own: the framing of requests and answers, TLS and SASL; what is not used: its cluster, producer and
 * consumer (protocol §10).
 */
export { default as plain } from "kafkajs/src/broker/saslAuthenticator/plain.js";
export { default as scram256 } from "kafkajs/src/broker/saslAuthenticator/scram256.js";
export { default as scram512 } from "kafkajs/src/broker/saslAuthenticator/scram512.js";
export { default as Connection } from "kafkajs/src/network/connection.js";
export { default as Decoder } from "kafkajs/src/protocol/decoder.js";
export { default as Encoder } from "kafkajs/src/protocol/encoder.js";
export { default as apiVersions } from "kafkajs/src/protocol/requests/apiVersions/index.js";
