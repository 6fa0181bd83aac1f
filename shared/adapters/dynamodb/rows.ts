/**
 * How items are rows: each field of an item is an attribute, so that people can read the table. Numbers, short texts, booleans and nulls are what they are;
 * all else is JSON, in a map with one of the fields `json`, `deflate` or `object`, by its size (`zstd`: as earlier versions packed it). What a write or a check costs grows with the size of the row, up to
 * 400 KB; an object costs as much as writing 4 KB twice.
 */
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { decompress, type Overflow, type Reference } from "./overflow.ts";
import { pack, unpack } from "./packing.ts";
import type { Attributes } from "./table.ts";

const mostPlainBytes = 512;
const mostPackedBytes = 4096;

const keyAttributes: ReadonlySet<string> = new Set(["pk", "sk", "revision"]);
const epochPart = /^EPOCH#(\d+)/;

type Item = Readonly<Record<string, unknown>>;

/**
 * The attributes of an item. A field that is the very value of the item before keeps its attribute: what a plan or a decision fixed is neither
 * packed nor stored again.
 */
export async function encode(
  key: string,
  item: Item,
  overflow: Overflow,
  before?: { readonly item: Item; readonly attributes: Attributes },
): Promise<Attributes> {
  const fields = Object.entries(item).filter(([, value]) => value !== undefined);
  const encoded = fields.map(async ([name, value]) => {
    const kept = before !== undefined && before.item[name] === value ? before.attributes[name] : undefined;
    return [name, kept ?? (await encodeField(key, value, overflow))] as const;
  });
  return Object.fromEntries(await Promise.all(encoded));
}

async function encodeField(key: string, value: unknown, overflow: Overflow): Promise<AttributeValue> {
  if (value === null) return { NULL: true };
  if (typeof value === "boolean") return { BOOL: value };
  if (typeof value === "number" && Number.isSafeInteger(value) && !Object.is(value, -0)) return { N: String(value) };
  const isShortText = typeof value === "string" && value.length <= mostPlainBytes && value.isWellFormed();
  if (isShortText) return { S: value };
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= mostPlainBytes) return { M: { json: { S: text } } };
  const packed = pack(text);
  const epoch = epochPart.exec(key)?.[1];
  if (packed.length <= mostPackedBytes || epoch === undefined)
    return { M: { deflate: { B: packed }, bytes: { N: String(bytes) } } };
  const { object, sha256 } = await overflow.put(epoch, text);
  return { M: { object: { S: object }, sha256: { S: sha256 }, bytes: { N: String(bytes) } } };
}

/** @param fields only those whose values lie in the row itself, for who must not mind a missing object */
export async function decode(
  attributes: Attributes,
  overflow: Overflow,
  fields: "all" | "in the row" = "all",
): Promise<Item> {
  const entries = Object.entries(attributes).filter(
    ([name, value]) => !keyAttributes.has(name) && (fields === "all" || referenceIn(value) === undefined),
  );
  const decoded = entries.map(async ([name, value]) => [name, await decodeField(value, overflow)] as const);
  return Object.fromEntries(await Promise.all(decoded));
}

async function decodeField(value: AttributeValue, overflow: Overflow): Promise<unknown> {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.NULL !== undefined) return null;
  return JSON.parse(await textOf(value, overflow));
}

async function textOf(value: AttributeValue, overflow: Overflow): Promise<string> {
  const { json, deflate, zstd, bytes } = value.M ?? {};
  if (json?.S !== undefined) return json.S;
  if (deflate?.B !== undefined) return await unpack(deflate.B, Number(bytes?.N));
  if (zstd?.B !== undefined) return await decompress(zstd.B, Number(bytes?.N));
  return await overflow.get(referenceIn(value)!);
}

function referenceIn(value: AttributeValue): Reference | undefined {
  const { object, sha256, bytes } = value.M ?? {};
  return object?.S === undefined ? undefined : { object: object.S, sha256: String(sha256?.S), bytes: Number(bytes?.N) };
}

/** The objects that a row names. */
export function objectsOf(attributes: Attributes): string[] {
  return Object.values(attributes).flatMap((value) => referenceIn(value)?.object ?? []);
}
