import type { PartitionMetadata } from "../../client.ts";
import type { Address } from "../address.ts";
import type { ApiRequest } from "../api-request.ts";
import { body, type Decoder, skipTags, writeCompactArray, writeNoTags } from "./wire.ts";

export interface FoundTopic {
  readonly code: number;
  readonly topic: string;
  readonly id: string;
  readonly internal: boolean;
  readonly partitions: readonly PartitionMetadata[];
}

export interface Metadata {
  readonly brokers: ReadonlyMap<number, Address>;
  readonly topics: readonly FoundTopic[];
}

const noId = Buffer.alloc(16);

/** The first version with topic ids. @param names null: all topics that we may see */
export function metadata(names: readonly string[] | null): ApiRequest<Metadata> {
  return {
    name: "Metadata",
    key: 3,
    version: 10,
    flexible: true,
    body: body((encoder) => {
      if (names === null) encoder.writeUVarInt(0);
      else {
        writeCompactArray(encoder, names, (name) => writeNoTags(encoder.writeBuffer(noId).writeUVarIntString(name)));
      }
      // No topics are made; no lists of authorised operations.
      writeNoTags(encoder.writeBoolean(false).writeBoolean(false).writeBoolean(false));
    }),
    decode(decoder) {
      const brokers = new Map(decoder.readUVarIntArray(readBroker));
      decoder.readUVarIntString();
      decoder.readInt32();
      return { brokers, topics: decoder.readUVarIntArray(readTopic) ?? [] };
    },
  };
}

function readBroker(decoder: Decoder): [nodeId: number, Address] {
  const nodeId = decoder.readInt32();
  const address = { host: decoder.readUVarIntString()!, port: decoder.readInt32() };
  decoder.readUVarIntString();
  skipTags(decoder);
  return [nodeId, address];
}

function readTopic(decoder: Decoder): FoundTopic {
  const code = decoder.readInt16();
  const topic = decoder.readUVarIntString()!;
  const id = decoder.readBytes(noId.length)!.toString("base64url");
  const internal = decoder.readBoolean();
  const partitions = decoder.readUVarIntArray(readPartition) ?? [];
  decoder.readInt32();
  skipTags(decoder);
  return { code, topic, id, internal, partitions: partitions.sort((a, b) => a.partition - b.partition) };
}

function readPartition(decoder: Decoder): PartitionMetadata {
  // LEADER_NOT_AVAILABLE, which the leader of -1 says too.
  decoder.readInt16();
  const partition = decoder.readInt32();
  const leader = decoder.readInt32();
  const leaderEpoch = decoder.readInt32();
  const [replicas] = Array.from({ length: 3 }, () => decoder.readUVarIntArray((each) => each.readInt32()) ?? []);
  skipTags(decoder);
  return { partition, leader: leader < 0 ? null : leader, leaderEpoch, replicas: replicas!.length };
}
