/**
 * What a worker is at, in memory that it shares with its supervisor: a thread that never returns cannot be asked.
 * Layout: offset (float64), length of the operator's name and of the partition's (int32 each), then both in UTF-8.
 */
export const whereaboutsBytes = 1024;
const textAt = 16;

export interface Whereabouts {
  readonly operator: string;
  readonly partition: string;
  readonly offset: number;
}

export function writeWhereabouts(shared: SharedArrayBuffer, { operator, partition, offset }: Whereabouts): void {
  const buffer = Buffer.from(shared);
  buffer.writeDoubleLE(offset, 0);
  const operatorBytes = buffer.write(operator, textAt);
  buffer.writeInt32LE(operatorBytes, 8);
  buffer.writeInt32LE(buffer.write(partition, textAt + operatorBytes), 12);
}

export function readWhereabouts(shared: SharedArrayBuffer): Whereabouts {
  const buffer = Buffer.from(shared);
  const partitionAt = textAt + buffer.readInt32LE(8);
  return {
    operator: buffer.toString("utf8", textAt, partitionAt),
    partition: buffer.toString("utf8", partitionAt, partitionAt + buffer.readInt32LE(12)),
    offset: buffer.readDoubleLE(0),
  };
}
