import type { Answer, ApiRequest } from "../api-request.ts";
import { body, writeArray } from "./wire.ts";

export type Resource = { readonly topic: string } | { readonly broker: number };

const resourceTypes = { topic: 2, broker: 4 };

/** Values by name. Those that the broker does not know, or keeps secret, are missing. */
export function describeConfigs(
  resource: Resource,
  names: readonly string[],
): ApiRequest<Answer<Record<string, string>>> {
  const [type, name] =
    "topic" in resource ? [resourceTypes.topic, resource.topic] : [resourceTypes.broker, String(resource.broker)];
  return {
    name: "DescribeConfigs",
    key: 32,
    version: 1,
    body: body((encoder) => {
      writeArray(encoder, [name], () => {
        encoder.writeInt8(type).writeString(name);
        writeArray(encoder, names, (each) => encoder.writeString(each));
      });
      encoder.writeBoolean(false);
    }),
    decode(decoder) {
      const [answer] = decoder.readArray(() => {
        const code = decoder.readInt16();
        const message = decoder.readString();
        decoder.readInt8();
        decoder.readString();
        const entries = decoder.readArray(() => {
          const key = decoder.readString()!;
          const value = decoder.readString();
          // Read-only, source, sensitive.
          decoder.forward(3);
          decoder.readArray(() => {
            decoder.readString();
            decoder.readString();
            decoder.readInt8();
          });
          return [key, value] as const;
        });
        const known = entries.filter((entry): entry is [string, string] => entry[1] !== null);
        return { code, message, value: Object.fromEntries(known) };
      });
      return answer!;
    },
  };
}
