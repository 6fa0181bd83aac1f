import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { type Around, group, once, rowsOf } from "../../../../test/support/kafka/lane.ts";
import { LaneWorld } from "../../../../test/support/kafka/lane-world.ts";
import { InfrastructureError, LossError } from "../../../errors.ts";
import { systemClock } from "../../system/clock.ts";
import { KafkaError } from "../errors.ts";

/** A world in which one epoch is committed, and the next is decided. */
async function twoEpochs(...given: ConstructorParameters<typeof LaneWorld>): Promise<LaneWorld> {
  const world = new LaneWorld(...given);
  await world.decide(1);
  await world.process().commit(1);
  world.settle(1);
  await world.decide(2);
  return world;
}

/** Names the calls of a commit, in order. */
async function callsOf(run: (world: LaneWorld, around: Around) => Promise<void>, world: LaneWorld): Promise<string[]> {
  const calls: string[] = [];
  await run(world, (call, answer) => {
    calls.push(call);
    return answer();
  });
  return calls;
}

/** Does something at the n-th call. */
const atCall = (target: number, there: (run: () => Promise<unknown>) => Promise<unknown>): Around => {
  let count = 0;
  return (_, run) => (count++ === target ? there(run) : run());
};

const cold = async (world: LaneWorld, around: Around) => await world.process(around).commit(2);
/** Whoever sleeps long lets the others go first. */
const realClock = { ...systemClock, pass: () => {} };
const isClientCall = (call: string) => !call.startsWith("ledger.") && call !== "get";

test("a commit asks in this order: fence, ledger, marker, and only then writes", async () => {
  assert.deepEqual(await callsOf(cold, await twoEpochs()), [
    "initProducer",
    "ledger.unit",
    "groupOffset",
    "ledger.unit",
    "get",
    "get",
    "addPartitions",
    "addGroupOffset",
    "produce",
    "produce",
    "endTransaction",
  ]);
});

test("a transaction is aborted only when nothing of it is under way any more, or that would begin another", async () => {
  const order: string[] = [];
  const around: Around = async (call, run) => {
    if (call === "get") throw new LossError("staged-missing", "gone", { wayOut: "none" });
    if (call === "addGroupOffset") await new Promise((resolve) => setTimeout(resolve, 20));
    const result = await run();
    order.push(call);
    return result;
  };
  await assert.rejects(cold(await twoEpochs(), around), { code: "staged-missing" });
  assert.deepEqual(order.slice(-3), ["addPartitions", "addGroupOffset", "endTransaction"]);
});

suite("whatever call fails, with or without its effect, every row is there once", () => {
  const errors = [
    "TIMED_OUT",
    "DISCONNECTED",
    "CONCURRENT_TRANSACTIONS",
    "NOT_COORDINATOR",
    "INVALID_PRODUCER_EPOCH",
    "PRODUCER_FENCED",
    "INVALID_TXN_STATE",
    "UNSTABLE_OFFSET_COMMIT",
    "NOT_LEADER_OR_FOLLOWER",
    "NOT_ENOUGH_REPLICAS",
    "OUT_OF_ORDER_SEQUENCE_NUMBER",
  ];
  for (const isAfter of [false, true])
    test(isAfter ? "with its effect" : "without its effect", async () => {
      const { length } = await callsOf(cold, await twoEpochs());
      for (let target = 0; target < length; target++)
        for (const name of errors) {
          const world = await twoEpochs();
          const fail = async (run: () => Promise<unknown>) => {
            if (isAfter) await run();
            throw new KafkaError(name, "injected");
          };
          await cold(world, atCall(target, fail));
          assert.deepEqual(world.seen(), once(1, 2), `call ${target}, ${name}`);
          world.settle(2);
          await world.decide(3);
          await world.process().commit(3);
          assert.deepEqual(world.seen(), once(1, 2, 3), `call ${target}, ${name}, then the next epoch`);
          assert.equal(world.kafka.open, 0);
        }
    });
});

suite("whatever call a process dies at, every row is there once", () => {
  for (const isAfter of [false, true])
    test(isAfter ? "after it" : "before it", async () => {
      const { length } = await callsOf(cold, await twoEpochs());
      for (let target = 0; target < length; target++) {
        const world = await twoEpochs();
        const die = async (run: () => Promise<unknown>) => {
          if (isAfter) await run();
          throw new Error("killed");
        };
        await assert.rejects(cold(world, atCall(target, die)), /killed/);
        await world.process().commit(2);
        assert.deepEqual(world.seen(), once(1, 2), `call ${target}`);
      }
    });

  test("between the commit and the ledger's word", async () => {
    const world = await twoEpochs();
    await world.process().commit(2);
    await world.process().commit(2);
    assert.deepEqual(world.seen(), once(1, 2));
  });
});

suite("a zombie that wakes up at whatever call changes nothing", () => {
  const stories: [string, (world: LaneWorld) => Promise<void>, number[]][] = [
    ["while the ledger does not know that another has committed", (world) => world.process().commit(2), [1, 2]],
    [
      "after the ledger knows",
      async (world) => {
        await world.process().commit(2);
        world.settle(2);
      },
      [1, 2],
    ],
    [
      "after the next epoch",
      async (world) => {
        await world.process().commit(2);
        world.settle(2);
        await world.decide(3);
        await world.process().commit(3);
        world.settle(3);
      },
      [1, 2, 3],
    ],
    [
      "after the epoch was collected",
      async (world) => {
        await world.process().commit(2);
        world.settle(2);
        await world.decide(3);
        await world.process().commit(3);
        world.settle(3);
        world.ledger.write(2, undefined);
        world.objects.objects.clear();
      },
      [1, 2, 3],
    ],
    ["after its transaction has timed out", async (world) => world.kafka.timeOutTransactions(), [1, 2]],
    [
      "after the user has given the epoch up",
      async (world) => {
        world.settle(2, "abandoned");
        assert.equal(await world.process().abandon(2), "lost");
      },
      [1],
    ],
  ];
  for (const [title, meanwhile, expected] of stories)
    test(title, async () => {
      const { length } = await callsOf(cold, await twoEpochs());
      for (let target = 0; target < length; target++) {
        const world = await twoEpochs();
        const { promise: asleep, resolve: sleeps } = Promise.withResolvers<void>();
        const { promise: awake, resolve: wake } = Promise.withResolvers<void>();
        const sleep = async (run: () => Promise<unknown>) => {
          sleeps();
          await awake;
          return await run();
        };
        const zombie = cold(world, atCall(target, sleep));
        // What it meets in the end is of no interest to anybody.
        zombie.catch(() => {});
        await asleep;
        await meanwhile(world);
        wake();
        await Promise.allSettled([zombie]);
        assert.deepEqual(world.seen(), once(...expected), `call ${target}`);
      }
    });
});

suite("the marker says what is there", () => {
  const commit = async (world: LaneWorld) => await world.process().commit(2);
  const refused = async (world: LaneWorld, code: string) => {
    await assert.rejects(commit(world), (error) => {
      assert.ok(error instanceof LossError);
      assert.equal(error.code, code);
      assert.match(error.wayOut ?? "", /epochflow abandon --sink out --epoch 2/);
      assert.equal(error.place.epoch, 2);
      return true;
    });
    assert.deepEqual(world.seen(), once(1));
    assert.equal(world.kafka.open, 0);
  };
  const mark = (world: LaneWorld, offset: number, metadata = "") =>
    world.kafka.setOffset(group, "out", { offset, metadata });

  test("n with our token: done", async () => {
    const world = await twoEpochs();
    mark(world, 2, "token-2");
    await commit(world);
    assert.deepEqual(world.seen(), once(1));
  });
  test("n with another token: unknown", async () => {
    const world = await twoEpochs();
    mark(world, 2, "token of another decision");
    await refused(world, "kafka-unknown-marker");
  });
  test("previous: written", async () => {
    const world = await twoEpochs();
    await commit(world);
    await turn();
    assert.deepEqual(world.kafka.offset(group, "out"), { offset: 2, metadata: "token-2" });
  });
  test("below previous: unknown", async () => {
    const world = await twoEpochs();
    await commit(world);
    world.settle(2);
    await world.decide(3);
    await turn();
    mark(world, 1, "token-1");
    await assert.rejects(world.process().commit(3), { code: "kafka-unknown-marker", message: /is 1, not 2$/ });
  });
  test("absent, in the lane's first epoch: written, unless it is old", async () => {
    for (const [ageMs, isWritten] of [
      [86_400_000, true],
      [86_400_001, false],
    ] as const) {
      const world = new LaneWorld();
      await world.decide(1);
      world.clock.pass(ageMs);
      const done = world.process().commit(1);
      if (isWritten) await done;
      else await assert.rejects(done, { code: "kafka-unknown-marker", message: /is absent, not absent|is absent/ });
      assert.deepEqual(world.seen(), isWritten ? once(1) : [[], []]);
    }
  });
  test("absent after an epoch: written only if that one's has expired", async () => {
    const day = 86_400_000;
    for (const [agoMs, isWritten] of [
      [6 * day + 1, true],
      [6 * day, false],
      [undefined, false],
    ] as const) {
      const world = await twoEpochs();
      await turn();
      mark(world, 1);
      world.kafka.setOffset(group, "out", undefined);
      world.change(1, { decidedAt: agoMs && world.clock.now() - agoMs });
      if (!isWritten) await refused(world, "kafka-unknown-marker");
      else {
        await commit(world);
        assert.deepEqual(world.seen(), once(1, 2));
      }
    }
  });
  test("absent, by the retention that the brokers have", async () => {
    const world = await twoEpochs();
    await turn();
    world.kafka.setOffset(group, "out", undefined);
    world.kafka.brokers["offsets.retention.minutes"] = "70";
    world.change(1, { decidedAt: world.clock.now() - 60 * 60_000 - 1 });
    await commit(world);
    assert.deepEqual(world.seen(), once(1, 2));
  });
  test("above n: done where the ledger says so, else the ledger is older than Kafka", async () => {
    const world = await twoEpochs();
    await turn();
    mark(world, 5);
    await refused(world, "kafka-ledger-older");
    world.ledger.setCommitted(2);
    await commit(world);
    assert.deepEqual(world.seen(), once(1));
  });
});

suite("a warm producer", () => {
  const warm = async (around?: Around, clock?: LaneWorld["clock"]) => {
    const world = new LaneWorld({}, 2, clock);
    const process = world.process(around);
    await world.decide(1);
    await process.commit(1);
    world.settle(1);
    await world.decide(2);
    // The coordinator has written its markers.
    await turn();
    return { world, process };
  };

  test("commits the next epoch without asking what is there", async () => {
    const calls: string[] = [];
    const { world, process } = await warm((call, run) => {
      calls.push(call);
      return run();
    });
    calls.length = 0;
    await process.commit(2);
    assert.deepEqual(calls.filter(isClientCall), [
      "addPartitions",
      "addGroupOffset",
      "produce",
      "produce",
      "endTransaction",
    ]);
    assert.equal(calls.filter((call) => call.startsWith("ledger")).length, 0);
    world.settle(2);
    await world.decide(3);
    await turn();
    await process.commit(3);
    assert.deepEqual(world.seen(), once(1, 2, 3));
  });
  test("is fenced by whoever came in between", async () => {
    const { world, process } = await warm();
    await world.process().commit(2);
    await process.commit(2);
    world.settle(2);
    await world.decide(3);
    await process.commit(3);
    assert.deepEqual(world.seen(), once(1, 2, 3));
  });
  test("is not used for any other epoch than the next", async () => {
    const { world, process } = await warm();
    await process.commit(2);
    await process.commit(2);
    world.settle(2);
    await world.decide(3);
    await world.process().commit(3);
    world.settle(3);
    await world.decide(4);
    await process.commit(4);
    assert.deepEqual(world.seen(), once(1, 2, 3, 4));
  });
  test("is not shared by twins", async () => {
    const { world, process } = await warm(undefined, realClock);
    await Promise.all([process.commit(2), process.commit(2), process.commit(2)]);
    assert.deepEqual(world.seen(), once(1, 2));
  });
  test("is not there for the twin of a commit that hangs, at whatever call", async () => {
    for (let target = 0; target < 5; target++) {
      let there: Around = (_, run) => run();
      const { world, process } = await warm((call, run) => (isClientCall(call) ? there(call, run) : run()));
      const { promise: awake, resolve: wake } = Promise.withResolvers<void>();
      const { promise: asleep, resolve: sleeps } = Promise.withResolvers<void>();
      there = atCall(target, async (run) => {
        sleeps();
        await awake;
        return await run();
      });
      const hanging = process.commit(2);
      await asleep;
      await process.commit(2);
      wake();
      await hanging;
      assert.deepEqual(world.seen(), once(1, 2), `call ${target}`);
    }
  });
  test("is thrown away at the first error, with or without its effect", async () => {
    for (const isAfter of [false, true])
      for (let target = 0; target < 5; target++) {
        let there: Around = (_, run) => run();
        const { world, process } = await warm((call, run) => (isClientCall(call) ? there(call, run) : run()));
        there = atCall(target, async (run) => {
          if (isAfter) await run();
          throw new KafkaError("TIMED_OUT", "injected");
        });
        await process.commit(2);
        assert.deepEqual(world.seen(), once(1, 2), `call ${target}`);
      }
  });
});

suite("a topic that was made anew", () => {
  const anew = async (world: LaneWorld) => {
    // Markers of a transaction come a little later.
    for (let turns = 0; turns < 5; turns++) await turn();
    world.kafka.deleteTopic("out");
    world.kafka.createTopic("out", 2);
  };
  test("takes what was staged for the one before", async () => {
    for (const isCommitted of [false, true]) {
      const world = await twoEpochs();
      if (isCommitted) await world.process().commit(2);
      await anew(world);
      await world.process().commit(2);
      assert.deepEqual(world.seen(), once(2));
      await world.process().commit(2);
      assert.deepEqual(world.seen(), once(2));
    }
  });
  test("takes the first epoch that was staged for it", async () => {
    const world = await twoEpochs();
    await world.process().commit(2);
    world.settle(2);
    await anew(world);
    await world.decide(3);
    await world.process().commit(3);
    await world.process().commit(3);
    assert.deepEqual(world.seen(), once(3));
  });
  test("and whose marker somebody deleted is a loss", async () => {
    const world = await twoEpochs();
    await anew(world);
    await world.process().commit(2);
    world.settle(2);
    await world.decide(3);
    await world.process().commit(3);
    world.settle(3);
    await world.decide(4);
    world.kafka.setOffset(group, "out", undefined);
    await assert.rejects(world.process().commit(4), { code: "kafka-unknown-marker" });
  });
});

suite("an epoch that was given up", () => {
  const abandoned = async () => {
    const world = await twoEpochs();
    world.settle(2, "abandoned");
    return world;
  };
  test("is committed if it was there already", async () => {
    const world = await twoEpochs();
    await world.process().commit(2);
    world.settle(2, "abandoned");
    assert.equal(await world.process().abandon(2), "committed");
    assert.deepEqual(world.seen(), once(1, 2));
  });
  test("is lost if it was not, also when asked twice", async () => {
    const world = await abandoned();
    world.ledger.setCommitted(1);
    for (let time = 0; time < 2; time++) assert.equal(await world.process().abandon(2), "lost");
    world.settle(2, "abandoned");
    await world.decide(3);
    await world.process().commit(3);
    assert.deepEqual(world.seen(), once(1, 3));
  });
  test("is passed over by the next, whether or not its end came through", async () => {
    for (const wasThere of [true, false]) {
      const world = await twoEpochs();
      if (wasThere) await world.process().commit(2);
      world.settle(2, "abandoned");
      await world.decide(3);
      world.settle(3, "abandoned");
      await world.decide(4);
      await world.process().commit(4);
      assert.deepEqual(world.seen(), wasThere ? once(1, 2, 4) : once(1, 4));
    }
  });
  test("counts as committed where the next finds that it is there", async () => {
    const world = await twoEpochs();
    await world.process().commit(2);
    world.settle(2, "abandoned");
    await world.decide(3);
    await world.process().commit(3);
    assert.equal(world.ledger.rows().get(2)?.status, "committed");
    assert.deepEqual(world.seen(), once(1, 2, 3));
    const lost = await abandoned();
    await lost.decide(3);
    await lost.process().commit(3);
    assert.equal(lost.ledger.rows().get(2)?.status, "abandoned");
  });
  test("stays lost where its marker was written without it", async () => {
    const world = await abandoned();
    world.ledger.setCommitted(1);
    assert.equal(await world.process().abandon(2), "lost");
    world.settle(2, "abandoned");
    await world.decide(3);
    await world.process().commit(3);
    assert.equal(world.ledger.rows().get(2)?.status, "abandoned");
    assert.deepEqual(world.seen(), once(1, 3));
  });
  test("lets the lane go on where the marker was lost", async () => {
    const world = await twoEpochs();
    world.kafka.setOffset(group, "out", undefined);
    await assert.rejects(world.process().commit(2), { code: "kafka-unknown-marker" });
    world.change(2, { status: "abandoned" });
    assert.equal(await world.process().abandon(2), "lost");
    world.settle(2, "abandoned");
    await world.decide(3);
    await world.process().commit(3);
    assert.deepEqual(world.seen(), once(1, 3));
  });
  test("leaves no marker above one that still waits", async () => {
    const world = await twoEpochs();
    await world.decide(3);
    world.change(3, { status: "abandoned" });
    assert.equal(await world.process().abandon(3), "lost");
    await world.process().commit(2);
    assert.deepEqual(world.seen(), once(1, 2));
  });
  test("is lost also where the topic is gone", async () => {
    const world = await abandoned();
    world.ledger.setCommitted(1);
    world.kafka.deleteTopic("out");
    assert.equal(await world.process().abandon(2), "lost");
  });
});

suite("what somebody must mend is said at once, and holds no reader up", () => {
  const waits = async (world: LaneWorld, code: string, wayOut: RegExp) => {
    const before = world.clock.now();
    await assert.rejects(world.process().commit(2), (error) => {
      assert.ok(error instanceof InfrastructureError);
      assert.equal(error.code, code);
      assert.match(error.message, /^sink out: epoch 2 is not committed yet: /);
      assert.match(error.wayOut ?? "", wayOut);
      return true;
    });
    assert.equal(world.clock.now(), before);
    assert.equal(world.kafka.open, 0);
  };
  test("a topic with fewer partitions", async () => {
    const world = await twoEpochs();
    world.kafka.topics.get("out")!.partitions = 1;
    await waits(world, "kafka-unknown-topic-or-partition", /Create the topic/);
    world.kafka.topics.get("out")!.partitions = 2;
    await world.process().commit(2);
    assert.deepEqual(world.seen(), once(1, 2));
  });
  test("a limit that was lowered", async () => {
    const world = await twoEpochs();
    world.kafka.topics.get("out")!.configuration["max.message.bytes"] = "70";
    await waits(world, "kafka-message-too-large", /max.message.bytes/);
    world.kafka.topics.get("out")!.configuration["max.message.bytes"] = "1000000";
    await world.process().commit(2);
    assert.deepEqual(world.seen(), once(1, 2));
  });
});

suite("what cannot be mended by trying again", () => {
  test("staged output that is gone", async () => {
    const world = await twoEpochs();
    world.objects.objects.clear();
    await assert.rejects(world.process().commit(2), (error) => {
      assert.ok(error instanceof LossError && error.code === "staged-missing");
      assert.match(error.wayOut ?? "", /abandon --sink out --epoch 2/);
      return true;
    });
    assert.equal(world.kafka.open, 0);
  });
  test("staged output that was changed", async () => {
    const world = await twoEpochs();
    for (const bytes of world.objects.objects.values()) bytes[100]! ^= 1;
    await assert.rejects(world.process().commit(2), { code: "staged-damaged" });
    assert.equal(world.kafka.open, 0);
    assert.deepEqual(world.seen(), once(1));
  });
  test("staged output that was cut off", async () => {
    const world = await twoEpochs();
    for (const [key, bytes] of world.objects.objects) world.objects.objects.set(key, bytes.subarray(0, -1));
    await assert.rejects(world.process().commit(2), { code: "staged-damaged" });
  });
});

test("patience ends below the transaction's time-out, with the last error", async () => {
  const world = await twoEpochs();
  const before = world.clock.now();
  const around: Around = (call, run) =>
    call === "endTransaction" ? Promise.reject(new KafkaError("TIMED_OUT", "no answer")) : run();
  await assert.rejects(world.process(around).commit(2), (error) => {
    assert.ok(error instanceof InfrastructureError && error.code === "kafka-timed-out");
    assert.match(error.message, /epoch 2 is not committed yet: no answer/);
    return true;
  });
  const passed = world.clock.now() - before;
  assert.ok(passed > 30_000 && passed <= 45_000, String(passed));
  await world.process().commit(2);
  assert.deepEqual(world.seen(), once(1, 2));
});

test("an attempt that takes too long ends before the brokers end it", async () => {
  const world = await twoEpochs();
  const around: Around = async (call, run) => {
    if (call === "produce") world.clock.pass(25_000);
    return await run();
  };
  await assert.rejects(world.process(around).commit(2), { code: "kafka-commit-late", kind: "infrastructure" });
  await world.process().commit(2);
  assert.deepEqual(world.seen(), once(1, 2));
});

test("two that commit at the same time both come to an end", async () => {
  for (let round = 0; round < 20; round++) {
    const world = await twoEpochs({}, 2, realClock);
    await Promise.all([1, 2, 3].map(() => world.process().commit(2)));
    assert.deepEqual(world.seen(), once(1, 2));
  }
});

test("many batches keep their order, five calls at a time at most", async () => {
  const world = new LaneWorld({ value: { name: "x", encode: ({ n }) => `{"n":${n}}${" ".repeat(150_000)}` } });
  const tasks = [0, 1, 2].map((task) => Array.from({ length: 30 }, (_, n) => ({ n: task * 100 + n })));
  await world.decide(1, [...tasks, ...rowsOf(9)]);
  await world.process().commit(1);
  const all = [...tasks, ...rowsOf(9)].flat().map(({ n }) => n);
  assert.deepEqual(
    world.seen(),
    [0, 1].map((partition) => all.filter((n) => n % 2 === partition)),
  );
  assert.equal(world.kafka.mostInFlight, 5);
});
