/** What a value becomes on its way into the staged row, which is JSON. Throws what is wrong with it, without saying the value. */
type Encode = (value: unknown) => unknown;

const range = (bits: number) => ({ least: -(2n ** BigInt(bits - 1)), most: 2n ** BigInt(bits - 1) - 1n });

function integer(bits: number): Encode {
  const { least, most } = range(bits);
  return (value) => {
    const isWhole = typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
    if (isWhole && BigInt(value) >= least && BigInt(value) <= most) return String(value);
    throw new TypeError(`it takes a whole number of ${bits} bits`);
  };
}

const number: Encode = (value) => {
  // JSON has neither NaN nor infinities, but PostgreSQL reads them from texts.
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  throw new TypeError("it takes a number");
};

const decimal: Encode = (value) => (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value) ? value : number(value));

const text: Encode = (value) => {
  if (typeof value !== "string") throw new TypeError("it takes a text");
  if (value.includes("\0")) throw new TypeError("PostgreSQL has no texts with a zero character");
  if (!value.isWellFormed()) throw new TypeError("it has half of a surrogate pair, for which UTF-8 has no bytes");
  return value;
};

const boolean: Encode = (value) => {
  if (typeof value === "boolean") return value;
  throw new TypeError("it takes a boolean");
};

const time: Encode = (value) => {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  if (typeof value === "string" && !Number.isNaN(Date.parse(value))) return value;
  throw new TypeError("it takes a Date, or a text as Date.toISOString() gives it");
};

const json: Encode = (value) => {
  const given = JSON.stringify(value);
  if (given === undefined || given.includes("\\u0000")) throw new TypeError("JSON of PostgreSQL cannot say it");
  return JSON.parse(given);
};

const bytes: Encode = (value) => {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  throw new TypeError("it takes bytes");
};

const encoders: Readonly<Record<string, Encode>> = {
  ...{ int2: integer(16), int4: integer(32), int8: integer(64) },
  ...{ float4: number, float8: number, numeric: decimal, bool: boolean },
  ...{ text, varchar: text, bpchar: text, uuid: text, timestamptz: time, timestamp: time, date: time },
  ...{ json, jsonb: json, bytea: bytes },
};

/** A column that the sink fills. */
export interface Column {
  readonly name: string;
  /** As the catalogue has it: "int8", "timestamptz". */
  readonly type: string;
  readonly nullable: boolean;
}

/** Turns a row into the JSON that is staged. Throws what is wrong with it: so what the table would refuse is known before anything is decided. */
export function encodeRow(row: unknown, columns: readonly Column[]): string {
  if (typeof row !== "object" || row === null) throw new TypeError("a row is no object");
  const values = row as Readonly<Record<string, unknown>>;
  return JSON.stringify(
    Object.fromEntries(columns.map((column) => [column.name, encodeValue(values[column.name], column)])),
  );
}

function encodeValue(value: unknown, { name, type, nullable }: Column): unknown {
  if (value === null || value === undefined) {
    if (nullable) return null;
    throw new TypeError(`column ${name} takes no null`);
  }
  try {
    return (encoders[type] ?? text)(value);
  } catch (error) {
    throw new TypeError(`column ${name} is of type ${type}: ${(error as Error).message}`);
  }
}
