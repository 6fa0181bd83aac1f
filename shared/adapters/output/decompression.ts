import { pipeline, Readable } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";

/** The rows of a file as they were before they were compressed, which its name tells. */
export function decompressed(chunks: AsyncIterable<Buffer>, path: string): AsyncIterable<Buffer> {
  if (path.endsWith(".zst")) return unzstd(chunks);
  // Whoever reads hears of failures of either.
  return path.endsWith(".gz") ? pipeline(Readable.from(chunks), createGunzip(), () => {}) : chunks;
}

/** Node's decompressor ends with a frame, and leaves what follows. So each frame has its own. */
async function* unzstd(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const source = chunks[Symbol.asyncIterator]();
  try {
    for (let rest = await next(source); rest !== undefined; ) {
      const given: Buffer[] = [];
      const stream = createZstdDecompress();
      pipeline(Readable.from(feed(rest, source, given), { highWaterMark: 1 }), stream, () => {});
      yield* stream;
      const left = Buffer.concat(given).subarray(stream.bytesWritten);
      rest = left.length > 0 ? left : await next(source);
    }
  } finally {
    await source.return?.();
  }
}

/** @param given gets what was handed out: a frame may end in the middle of it */
async function* feed(first: Buffer, source: AsyncIterator<Buffer>, given: Buffer[]): AsyncGenerator<Buffer> {
  for (let chunk: Buffer | undefined = first; chunk !== undefined; chunk = await next(source)) {
    given.push(chunk);
    yield chunk;
  }
}

async function next(source: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  const { done, value } = await source.next();
  return done ? undefined : value;
}
