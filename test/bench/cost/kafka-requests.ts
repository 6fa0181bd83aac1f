/** APIs of Kafka that pipelines ask for, by their numbers (https://kafka.apache.org/protocol#protocol_api_keys). */
const names: Readonly<Record<number, string>> = {
  0: "Produce",
  1: "Fetch",
  2: "ListOffsets",
  3: "Metadata",
  9: "OffsetFetch",
  10: "FindCoordinator",
  18: "ApiVersions",
  22: "InitProducerId",
  24: "AddPartitionsToTxn",
  25: "AddOffsetsToTxn",
  26: "EndTxn",
  28: "TxnOffsetCommit",
  29: "DescribeAcls",
  32: "DescribeConfigs",
  61: "DescribeProducers",
  65: "DescribeTransactions",
};

/** Where a connection's bytes are: so many of them still belong to the request that was told, then these begin the next one. */
interface Place {
  readonly skip: number;
  readonly begun: Buffer;
}

const start: Place = { skip: 0, begun: Buffer.alloc(0) };

/** A request begins with its length, which does not count itself, and the number of its API. */
const lengthBytes = 4;
const headBytes = lengthBytes + 2;

/** Finds the requests in what clients send, however it is cut, and tells their names. */
export function requestWatcher(tell: (name: string) => void): (bytes: Buffer, connection: object) => void {
  const places = new WeakMap<object, Place>();
  return (bytes, connection) => {
    const { skip, begun } = places.get(connection) ?? start;
    const known = Buffer.concat([begun, bytes]);
    let at = skip;
    while (known.length >= at + headBytes) {
      const api = known.readInt16BE(at + lengthBytes);
      tell(names[api] ?? `API ${api}`);
      at += lengthBytes + known.readInt32BE(at);
    }
    places.set(connection, { skip: Math.max(0, at - known.length), begun: Buffer.from(known.subarray(at)) });
  };
}
