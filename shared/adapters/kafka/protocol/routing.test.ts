import assert from "node:assert/strict";
import { test } from "node:test";
import { KafkaError } from "../errors.ts";
import type { Answer, ApiRequest } from "./api-request.ts";
import type { Cluster } from "./cluster.ts";
import { Deadline } from "./deadline.ts";
import { askCoordinator, askLeaders } from "./routing.ts";

const notLeader = 6;
const outOfRange = 1;
const notCoordinator = 16;
const loading = 14;
const fenced = 47;

const deadline = new Deadline(60_000);
const partitions = [2, 0, 1].map((partition) => ({ topic: "t", partition }));

/** Nodes that answer as `answer` says; who leads or coordinates is node 1, and whoever follows in `next` each time that this is forgotten. */
function clusterOf(answer: (node: number, partition: number) => Answer<string> | Error, next: readonly number[] = []) {
  const leaders = new Map<number, number>();
  const moves = [...next];
  const asked: string[] = [];
  let coordinator = 1;
  const move = (before: number) => moves.shift() ?? before;
  const cluster = {
    async byLeader<P extends { partition: number }>(items: readonly P[]) {
      return Map.groupBy(items, ({ partition }) => leaders.get(partition) ?? 1);
    },
    forgetLeaders(items: readonly { partition: number }[]) {
      for (const { partition } of items) leaders.set(partition, move(leaders.get(partition) ?? 1));
    },
    coordinator: async () => coordinator,
    forgetCoordinator() {
      coordinator = move(coordinator);
    },
    connection: async (node: number) => ({
      address: { host: "node", port: node },
      async send({ body }: ApiRequest<unknown>) {
        const led = [...body[0]!];
        asked.push(`${node}: ${led}`);
        const answers = led.map((partition) => answer(node, partition));
        for (const each of answers) if (each instanceof Error) throw each;
        return answers.length === 1 && led[0] === 99 ? answers[0] : answers;
      },
    }),
  };
  return { cluster: cluster as unknown as Cluster, asked };
}

const ask = (cluster: Cluster) =>
  askLeaders(cluster, partitions, {
    what: "Look",
    lane: "test",
    deadline,
    request: (items) =>
      ({ body: [Buffer.from(items.map(({ partition }) => partition))] }) as unknown as ApiRequest<Answer<string>[]>,
  });

test("a leader that has moved is found again, once, for its partitions only", async () => {
  const { cluster, asked } = clusterOf(
    (node, partition) =>
      partition === 0 && node === 1 ? { code: notLeader, value: "" } : { code: 0, value: `${partition} of ${node}` },
    [2],
  );
  assert.deepEqual(await ask(cluster), ["2 of 1", "0 of 2", "1 of 1"]);
  assert.deepEqual(asked, ["1: 2,0,1", "2: 0"]);
});

test("one that has moved once more, or another error, is the call's error", async () => {
  const moving = clusterOf(() => ({ code: notLeader, value: "" }));
  await assert.rejects(ask(moving.cluster), { broker: "NOT_LEADER_OR_FOLLOWER", message: /^Look of t\/2 at node:1: / });
  assert.equal(moving.asked.length, 2);
  const wrong = clusterOf((_, partition) => ({ code: partition === 0 ? outOfRange : 0, value: "" }));
  await assert.rejects(ask(wrong.cluster), { broker: "OFFSET_OUT_OF_RANGE", message: /t\/0/ });
  assert.equal(wrong.asked.length, 1);
});

test("a leader that cannot be reached fails the call, and is not asked first the next time", async () => {
  const down = new KafkaError("DISCONNECTED", "down");
  const { cluster } = clusterOf((node) => (node === 1 ? down : { code: 0, value: "up" }), [2, 2, 2]);
  await assert.rejects(ask(cluster), down);
  assert.deepEqual(await ask(cluster), ["up", "up", "up"]);
});

const askOne = (cluster: Cluster) =>
  askCoordinator(cluster, ["group", "g"], {
    what: "Look",
    lane: "test",
    deadline,
    request: { body: [Buffer.of(99)] } as unknown as ApiRequest<Answer<string>>,
  });

test("a coordinator that has moved, or still loads, is waited for", async () => {
  const codes = [notCoordinator, loading, loading, 0];
  const { cluster, asked } = clusterOf((node) => ({ code: codes.shift()!, value: `of ${node}` }), [2]);
  assert.equal(await askOne(cluster), "of 2");
  assert.deepEqual(asked, ["1: 99", "2: 99", "2: 99", "2: 99"]);
});

test("what a coordinator refuses is the call's error, and so is its silence; then it is looked for again", async () => {
  const { cluster, asked } = clusterOf(() => ({ code: fenced, value: "" }));
  await assert.rejects(askOne(cluster), { broker: "INVALID_PRODUCER_EPOCH" });
  assert.equal(asked.length, 1);
  const down = new KafkaError("TIMED_OUT", "silent");
  const dead = clusterOf((node) => (node === 1 ? down : { code: 0, value: "up" }), [2]);
  await assert.rejects(askOne(dead.cluster), down);
  assert.equal(await askOne(dead.cluster), "up");
});
