import type { AttributeValue } from "@aws-sdk/client-dynamodb";

/** Request units of a table on demand. */
export interface Units {
  readonly read: number;
  readonly write: number;
}

type Attributes = Readonly<Record<string, AttributeValue>>;

/** As JSON has it: binary values are base64. */
type Value = { readonly [type in "S" | "N" | "B" | "BOOL" | "NULL" | "M" | "L" | "SS" | "NS" | "BS"]?: unknown };

const readBlock = 4096;
const writeBlock = 1024;

/**
 * Bytes of an item, after "DynamoDB item sizes and formats"
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html).
 */
export function itemBytes(item: Attributes): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + utf8(name) + valueBytes(value as Value), 0);
}

function valueBytes(value: Value): number {
  const [[type, content] = []] = Object.entries(value);
  switch (type) {
    case "S":
      return utf8(content as string);
    case "N":
      return numberBytes(content as string);
    case "B":
      return Buffer.byteLength(content as string, "base64");
    case "M":
      return (
        3 + Object.entries(content as object).reduce((sum, [name, each]) => sum + 1 + utf8(name) + valueBytes(each), 0)
      );
    case "L":
      return 3 + (content as Value[]).reduce((sum, each) => sum + 1 + valueBytes(each), 0);
    case "SS":
    case "NS":
    case "BS":
      return (content as string[]).reduce((sum, each) => sum + valueBytes({ [type.charAt(0)]: each } as Value), 0);
    default:
      return 1; // true, false, null
  }
}

/** A byte for two significant digits, one for the number itself, one for its sign. */
function numberBytes(text: string): number {
  const digits = text
    .replace(/e.*$/i, "")
    .replace(/\D/g, "")
    .replace(/^0+|0+$/g, "").length;
  return Math.ceil(digits / 2) + 1 + (text.startsWith("-") ? 1 : 0);
}

const utf8 = (text: string): number => Buffer.byteLength(text);

const blocks = (bytes: number, block: number): number => Math.max(1, Math.ceil(bytes / block));

/** Write units of a row outside of a transaction. */
export const writeUnitsOf = (bytes: number): number => blocks(bytes, writeBlock);

/** What is asked, in the JSON of DynamoDB's interface. */
// biome-ignore lint/suspicious/noExplicitAny: requests of six operations, which the emulator has checked
type Request = any;

/**
 * Counts the request units of requests and their answers, after
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html and, for what that leaves open (a check within a transaction
 * is billed as a write of the item that it looks at), https://martinhicks.dev/articles/what-a-conditional-dynamodb-transaction-costs.
 *
 * A write costs by the larger of the item before and after, so sizes are kept of all items seen. A condition that fails costs what the write would have. Not
 * counted are replays of a transaction whose answer was lost.
 */
export class UnitCounter {
  readonly #sizes = new Map<string, number>();

  /** Bytes of the rows that are there, as far as they were seen, by their sort keys. */
  rows(): [key: string, bytes: number][] {
    return [...this.#sizes].map(([name, bytes]) => [JSON.parse(name)[2].S, bytes]);
  }

  /** @param status of the answer: a request that was refused otherwise than by a condition is free */
  count(operation: string, request: Request, status: number, answer: Request): Units {
    const refused = String(answer?.__type ?? "")
      .split("#")
      .at(-1)!;
    const isByCondition = refused === "ConditionalCheckFailedException" || refused === "TransactionCanceledException";
    if (status !== 200 && !isByCondition) return { read: 0, write: 0 };
    return this.#units(operation, request, status === 200, answer);
  }

  #units(operation: string, request: Request, isDone: boolean, answer: Request): Units {
    const { TableName: table } = request;
    const consistency = request.ConsistentRead ? 1 : 0.5;
    switch (operation) {
      case "GetItem":
        return { read: consistency * blocks(this.#see(table, request.Key, answer.Item), readBlock), write: 0 };
      case "Query":
      case "Scan": {
        const bytes = answer.Items.reduce((sum: number, item: Attributes) => sum + this.#see(table, item, item), 0);
        return { read: consistency * blocks(bytes, readBlock), write: 0 };
      }
      case "TransactGetItems": {
        const read = request.TransactItems.reduce((sum: number, { Get }: Request, index: number) => {
          const bytes = this.#see(Get.TableName, Get.Key, answer.Responses?.[index]?.Item);
          return sum + 2 * blocks(bytes, readBlock);
        }, 0);
        return { read, write: 0 };
      }
      case "PutItem":
        return { read: 0, write: this.#put(table, request.Item, isDone) };
      case "TransactWriteItems": {
        const write = request.TransactItems.reduce(
          (sum: number, action: Request) => sum + 2 * this.#act(action, isDone),
          0,
        );
        return { read: 0, write };
      }
      case "BatchWriteItem": {
        const actions = Object.entries(request.RequestItems).flatMap(([name, all]) =>
          (all as Request[]).map((one) => ({ name, ...one })),
        );
        const write = actions.reduce(
          (sum, { name, PutRequest, DeleteRequest }) =>
            sum + (PutRequest ? this.#put(name, PutRequest.Item, true) : this.#delete(name, DeleteRequest.Key, true)),
          0,
        );
        return { read: 0, write };
      }
      default:
        return { read: 0, write: 0 };
    }
  }

  #act({ Put, Delete, ConditionCheck }: Request, isDone: boolean): number {
    if (Put) return this.#put(Put.TableName, Put.Item, isDone);
    if (Delete) return this.#delete(Delete.TableName, Delete.Key, isDone);
    return blocks(this.#sizes.get(nameOf(ConditionCheck.TableName, ConditionCheck.Key)) ?? 0, writeBlock);
  }

  #put(table: string, item: Attributes, isDone: boolean): number {
    const name = nameOf(table, item);
    const bytes = itemBytes(item);
    const units = blocks(Math.max(bytes, this.#sizes.get(name) ?? 0), writeBlock);
    if (isDone) this.#sizes.set(name, bytes);
    return units;
  }

  #delete(table: string, key: Attributes, isDone: boolean): number {
    const name = nameOf(table, key);
    const units = blocks(this.#sizes.get(name) ?? 0, writeBlock);
    if (isDone) this.#sizes.delete(name);
    return units;
  }

  #see(table: string, key: Attributes, item: Attributes | undefined): number {
    const bytes = item ? itemBytes(item) : 0;
    if (item) this.#sizes.set(nameOf(table, key), bytes);
    else this.#sizes.delete(nameOf(table, key));
    return bytes;
  }
}

/** By the keys that the ledger's table has. */
function nameOf(table: string, { pk, sk }: Attributes): string {
  return JSON.stringify([table, pk, sk]);
}
