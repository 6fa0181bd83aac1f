import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { textColumn } from "../../../test/support/text-column.ts";
import { json } from "../../pipeline/decoders/json.ts";
import type { Encoder } from "../../pipeline/topology.ts";
import type { ColumnRows, RowColumn } from "../../ports/columns.ts";
import type { RefusedRow } from "../../ports/sink.ts";
import { owner } from "../../testing/sink-scenario.ts";
import { FileFormat, type FormatOptions } from "./file-format.ts";
import { StagedRows } from "./staged-rows.ts";
import type { Staging } from "./staging.ts";

/* Lines of JSON that a sink writes by itself, of rows and of columns, are those of the same encoder that is asked for a text of each row; and files end at the same ones. */

const context = { ...owner, epoch: 1, attempt: 1, stage: 1, task: 0, nonce: "nonce1" };

class Chunks implements Staging<object> {
  readonly chunkBytes = 1;
  readonly takesSmallChunks = true;
  readonly queuedBytes = 0;
  readonly mostHeldBytes: number;
  readonly files: string[] = [];

  constructor(mostHeldBytes: number) {
    this.mostHeldBytes = mostHeldBytes;
  }

  file(number: number, path: string) {
    this.files[number] = `${path} `;
    return {
      append: (chunk: Buffer) => {
        this.files[number] += chunk.toString("hex");
      },
      end: async () => ({}),
    };
  }

  async written(): Promise<void> {}
  async discard(): Promise<void> {}
}

interface Sizes {
  readonly maxFileBytes: number;
  readonly mostHeldBytes: number;
  readonly compression: NonNullable<FormatOptions["compression"]>;
}

async function writtenBy(
  format: Encoder<never> | undefined,
  { maxFileBytes, mostHeldBytes, compression }: Sizes,
  write: (rows: StagedRows<object>, refused: RefusedRow) => void,
) {
  const staging = new Chunks(mostHeldBytes);
  const layout = {
    format: new FileFormat({ ...(format && { format }), compression }),
    template: undefined,
    maxFileBytes,
  };
  const rows = new StagedRows(layout, context, staging);
  const refused: string[] = [];
  write(rows, (index, { code, message }) => refused.push(`${index} ${code} ${message}`));
  return { refused, prepared: await rows.finish(), files: staging.files };
}

const asked: Encoder<unknown> = { name: "json", encode: (row) => json().encode(row), file: json().file! };
const sizes = fc.record<Sizes>({
  maxFileBytes: fc.constantFrom(1, 100, 700, 1 << 20),
  mostHeldBytes: fc.constantFrom(50, 1 << 20),
  compression: fc.constantFrom<Sizes["compression"]>("none", "none", "zstd"),
});
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.integer({ min: 0, max: 3000 }).map((length) => "ä".repeat(length)),
);
const flat = fc.oneof(text, fc.double(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant(undefined));

test("rows", async () => {
  const other = fc.constantFrom<unknown>([1], 1n, { toJSON: () => undefined }, { a: { b: 1 } }, undefined, new Date(0));
  const row = fc.oneof({ weight: 20, arbitrary: fc.record({ a: flat, b: flat }) }, { weight: 1, arbitrary: other });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 60 }), sizes, async (given, sizes) => {
      const write = (rows: StagedRows<object>, refused: RefusedRow) => rows.write(given, refused);
      const plain = await writtenBy(asked as Encoder<never>, sizes, write);
      assert.deepEqual(await writtenBy(json() as Encoder<never>, sizes, write), plain);
    }),
  );
});

test("columns", async () => {
  const columns = fc.integer({ min: 0, max: 60 }).chain((length) => {
    const of = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: length, maxLength: length });
    return fc.tuple(
      of(text.map((one) => one.toWellFormed())),
      of(fc.double()),
      of(fc.oneof(flat, fc.constantFrom<unknown>([1], 1n))),
    );
  });
  await fc.assert(
    fc.asyncProperty(columns, sizes, async ([texts, numbers, values], sizes) => {
      const rows = texts.map((a, row) => ({ a, b: numbers[row], c: values[row] }));
      const fields: { name: string; column: RowColumn }[] = [
        { name: "a", column: textColumn(texts) },
        { name: "b", column: Float64Array.from(numbers) },
        { name: "c", column: values },
      ];
      const given: ColumnRows = { length: rows.length, fields, times: new Float64Array(rows.length), rows: () => rows };
      const plain = await writtenBy(asked as Encoder<never>, sizes, (into, refused) => into.write(rows, refused));
      for (const format of [json() as Encoder<never>, asked as Encoder<never>])
        assert.deepEqual(await writtenBy(format, sizes, (into, refused) => into.writeColumns(given, refused)), plain);
    }),
  );
});
