import { createHash } from "node:crypto";
import { UserCodeError } from "../../errors.ts";
import { toJsonText } from "../../json-text.ts";
import type { RefusedRow, RowBatch, SinkContext } from "../../ports/sink.ts";

/** Characters that are gathered before they are encoded and written: measured, longer strings take more time a row. */
const chunkCharacters = 1 << 16;

/** Rows as JSON Lines, in chunks of bytes that are handed on as they fill, with what a manifest says of them. */
export class JsonLines {
  readonly #context: SinkContext;
  readonly #take: (chunk: Buffer) => void;
  readonly #digest = createHash("sha256");
  #text = "";
  #rows = 0;
  #bytes = 0;

  constructor(context: SinkContext, take: (chunk: Buffer) => void) {
    this.#context = context;
    this.#take = take;
  }

  get rows(): number {
    return this.#rows;
  }

  write(rows: RowBatch, refused?: RefusedRow): void {
    for (let index = 0; index < rows.length; ) {
      try {
        for (; index < rows.length; index++) {
          this.#text += `${this.#encode(rows[index])}\n`;
          this.#rows++;
          if (this.#text.length >= chunkCharacters) this.#hand();
        }
      } catch (error) {
        if (refused === undefined || !(error instanceof UserCodeError)) throw error;
        refused(index++, error);
      }
    }
  }

  /** Hands on what is left. `digest`: SHA-256, in hexadecimal. */
  finish(): { rows: number; bytes: number; digest: string } {
    this.#hand();
    return { rows: this.#rows, bytes: this.#bytes, digest: this.#digest.digest("hex") };
  }

  discard(): void {
    this.#text = "";
  }

  #hand(): void {
    if (this.#text === "") return;
    const chunk = Buffer.from(this.#text);
    this.#text = "";
    this.#digest.update(chunk);
    this.#bytes += chunk.length;
    this.#take(chunk);
  }

  #encode(row: unknown): string {
    let text: string | undefined;
    let cause: unknown;
    try {
      text = toJsonText(row);
    } catch (error) {
      cause = error;
    }
    if (text !== undefined) return text;
    throw this.#notJson(row, cause);
  }

  #notJson(row: unknown, cause: unknown): UserCodeError {
    const { pipeline, sink, epoch, attempt } = this.#context;
    const reason = cause instanceof Error ? cause.message : `it is of type ${typeof row}`;
    return new UserCodeError("row-not-json", `sink ${sink}: a row cannot be written as JSON: ${reason}`, {
      wayOut: "Map rows to plain values before the sink.",
      place: { pipeline, sink, epoch, attempt },
      cause,
    });
  }
}
