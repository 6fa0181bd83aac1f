import { randomUUID } from "node:crypto";
import {
  type AttributeValue,
  BatchWriteItemCommand,
  type CancellationReason,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { backOff } from "../aws/back-off.ts";
import { awsError, nameOf } from "../aws/errors.ts";

/** A row as DynamoDB has it: `pk` is the pipeline, `sk` the item's key, `revision` how often the row was written. */
export type Attributes = Record<string, AttributeValue>;

/** A row was so, or was not there, when it was read. */
export interface Expectation {
  readonly key: string;
  readonly revision: number | undefined;
}

/** What a write came to: it is done; something is not as expected; others were at it, or the table is throttled. */
export type Written = "done" | "changed" | "busy";

/** At most so many deletes go in one request. */
const batchSize = 25;
/** How often a request is made again for what the service did not get to. */
const patience = 20;

export function revisionOf(attributes: Attributes | undefined): number | undefined {
  return attributes && Number(attributes.revision?.N);
}

/** A row as it is once it is written over one of that revision, or over none. */
export function revised(row: Attributes, revision = 0): Attributes {
  return { ...row, revision: { N: String(revision + 1) } };
}

/** The requests that the ledger makes of its table. All reads are strongly consistent. */
export class Table {
  readonly #client: DynamoDBClient;
  readonly #name: string;
  readonly #pipeline: string;

  constructor(client: DynamoDBClient, name: string, pipeline: string) {
    this.#client = client;
    this.#name = name;
    this.#pipeline = pipeline;
  }

  async get(key: string): Promise<Attributes | undefined> {
    const command = new GetItemCommand({ TableName: this.#name, Key: this.#keyOf(key), ConsistentRead: true });
    return (await this.#named("read", () => this.#client.send(command))).Item;
  }

  /** Rows with keys in `[from, below)`, ascending. */
  async query(from: string, below: string): Promise<Attributes[]> {
    if (from >= below) return [];
    const rows: Attributes[] = [];
    let start: Attributes | undefined;
    do {
      const command = new QueryCommand({
        TableName: this.#name,
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pipeline AND sk BETWEEN :from AND :below",
        ExpressionAttributeValues: { ":pipeline": { S: this.#pipeline }, ":from": { S: from }, ":below": { S: below } },
        ExclusiveStartKey: start,
      });
      const page = await this.#named("read", () => this.#client.send(command));
      rows.push(...(page.Items ?? []));
      start = page.LastEvaluatedKey;
    } while (start);
    return rows.filter(({ sk }) => sk!.S! < below);
  }

  /** Whether rows are as expected, all at the same moment. */
  async areAs(expected: readonly Expectation[]): Promise<boolean> {
    const items = expected.map(({ key }) => ({ Get: { TableName: this.#name, Key: this.#keyOf(key) } }));
    try {
      const { Responses } = await this.#client.send(new TransactGetItemsCommand({ TransactItems: items }));
      return expected.every(({ revision }, index) => revisionOf(Responses?.[index]?.Item) === revision);
    } catch (error) {
      if (nameOf(error) === "TransactionCanceledException") return false; // somebody writes one of them
      throw awsError(error, `read the ledger in table ${this.#name}`);
    }
  }

  /** Writes one row, if it is as expected. */
  async put(row: Attributes, expected: Expectation): Promise<Written> {
    const command = new PutItemCommand({
      TableName: this.#name,
      Item: this.#withKey(row, expected),
      ...isAs(expected),
    });
    try {
      await this.#client.send(command);
      return "done";
    } catch (error) {
      if (nameOf(error) === "ConditionalCheckFailedException") return "changed";
      if (nameOf(error) === "TransactionConflictException") return "busy";
      throw awsError(error, `write the ledger in table ${this.#name}`);
    }
  }

  /**
   * Writes rows and checks others, all or nothing. A request that is sent again, by the SDK or here, has the same token: whether its effect
   * happened the first time or not, it happens once, and the answer says so.
   */
  async transact(
    puts: readonly (readonly [row: Attributes, expected: Expectation])[],
    checks: readonly Expectation[],
  ): Promise<Written> {
    const TableName = this.#name;
    const actions: TransactWriteItem[] = [
      ...puts.map(([row, expected]) => ({
        Put: { TableName, Item: this.#withKey(row, expected), ...isAs(expected) },
      })),
      ...checks.map((expected) => ({
        ConditionCheck: { TableName, Key: this.#keyOf(expected.key), ...isAs(expected) },
      })),
    ];
    const input = { TransactItems: actions, ClientRequestToken: randomUUID() };
    for (let tries = 1; ; tries++) {
      try {
        await this.#client.send(new TransactWriteItemsCommand(input));
        return "done";
      } catch (error) {
        if (nameOf(error) === "TransactionInProgressException" && tries < patience) await backOff(tries);
        else return this.#outcomeOf(error);
      }
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += batchSize) {
      const batch = keys.slice(at, at + batchSize);
      let left = { [this.#name]: batch.map((key) => ({ DeleteRequest: { Key: this.#keyOf(key) } })) } as object;
      for (let tries = 1; Object.keys(left).length > 0; tries++) {
        const command = new BatchWriteItemCommand({ RequestItems: left as never });
        left = (await this.#named("delete rows of", () => this.#client.send(command))).UnprocessedItems ?? {};
        if (Object.keys(left).length > 0) await backOff(tries);
      }
    }
  }

  #outcomeOf(error: unknown): Written {
    const reasons = (error as { CancellationReasons?: CancellationReason[] }).CancellationReasons ?? [];
    const codes = reasons.flatMap(({ Code }) => (Code === undefined || Code === "None" ? [] : [Code]));
    if (codes.includes("ConditionalCheckFailed")) return "changed";
    if (codes.length > 0 && codes.every((code) => passing.test(code))) return "busy";
    throw awsError(error, `write the ledger in table ${this.#name}`);
  }

  #keyOf(key: string) {
    return { pk: { S: this.#pipeline }, sk: { S: key } };
  }

  #withKey(row: Attributes, { key, revision }: Expectation): Attributes {
    return { ...this.#keyOf(key), ...revised(row, revision) };
  }

  async #named<T>(doing: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw awsError(error, `${doing} the ledger in table ${this.#name}`);
    }
  }
}

/** Reasons of a cancelled transaction that the next one may not have. */
const passing = /^(TransactionConflict|ThrottlingError|ProvisionedThroughputExceeded|RequestLimitExceeded)$/;

function isAs({ revision }: Expectation) {
  return revision === undefined
    ? { ConditionExpression: "attribute_not_exists(pk)" }
    : {
        ConditionExpression: "revision = :seen",
        ExpressionAttributeValues: { ":seen": { N: String(revision) } },
      };
}
