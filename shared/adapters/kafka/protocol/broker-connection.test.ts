import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "./address.ts";
import { AnswerMemory } from "./answer-memory.ts";
import type { ApiRequest } from "./api-request.ts";
import { BrokerConnection } from "./broker-connection.ts";
import { Deadline } from "./deadline.ts";
import { Encoder } from "./kafkajs-modules.ts";

const apiVersionsKey = 18;
const patientMs = 60_000;
/** Below it: what ends only because a patient call has lost its patience fails. */
const quick = { timeout: 20_000 };

interface Received {
  readonly key: number;
  readonly at: number;
}

/** A server that answers requests as `answer` says, with a body; undefined: not at all. */
async function serve(
  answer: (key: number, count: number) => Buffer | undefined,
): Promise<AsyncDisposable & { address: Address; received: Received[]; server: Server; sockets: Socket[] }> {
  const received: Received[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    let bytes = Buffer.alloc(0);
    socket.on("data", (more) => {
      bytes = Buffer.concat([bytes, more]);
      while (bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)) {
        const request = bytes.subarray(4, 4 + bytes.readInt32BE(0));
        bytes = bytes.subarray(4 + request.length);
        const key = request.readInt16BE(0);
        received.push({ key, at: performance.now() });
        const body = answer(key, received.length);
        if (body === undefined) continue;
        const head = new Encoder(8).writeInt32(4 + body.length).writeInt32(request.readInt32BE(4)).buffer;
        socket.write(Buffer.concat([head, body]));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const dispose = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  };
  const { port } = server.address() as AddressInfo;
  return { address: { host: "127.0.0.1", port }, received, server, sockets, [Symbol.asyncDispose]: dispose };
}

const versions = new Encoder()
  .writeInt16(0)
  .writeInt32(2)
  .writeBuffer(new Encoder(8).writeInt16(3).writeInt16(0).writeInt16(13).buffer)
  .writeBuffer(new Encoder(8).writeInt16(0).writeInt16(0).writeInt16(11).buffer).buffer;
const number = (value: number): Buffer => new Encoder(4).writeInt32(value).buffer;
/** Throttle time, then a number. */
const numbered = (throttleMs: number, value: number): Buffer => Buffer.concat([number(throttleMs), number(value)]);

const ask = (more: Partial<ApiRequest<number>> = {}): ApiRequest<number> => ({
  name: "Metadata",
  key: 3,
  version: 10,
  body: [Buffer.from("part"), Buffer.from("parts")],
  decode: (decoder) => decoder.readInt32(),
  ...more,
});

const open = (address: Address, timeoutMs = patientMs) =>
  BrokerConnection.open(address, { brokers: [], clientId: "test" }, new AnswerMemory(), new Deadline(timeoutMs));
const patient = () => new Deadline(patientMs);

test("requests are answered each by its answer, and a throttle time is waited for", quick, async () => {
  await using server = await serve((key, count) =>
    key === apiVersionsKey ? versions : numbered(count === 2 ? 150 : 0, count),
  );
  const connection = await open(server.address);
  const [first, second] = [connection.send(ask(), patient()), connection.send(ask(), patient())];
  assert.deepEqual([await first, await second], [2, 3]);
  assert.equal(await connection.send(ask(), patient()), 4);
  assert.ok(server.received[3]!.at - server.received[1]!.at >= 140);
  assert.ok(server.received[2]!.at - server.received[1]!.at < 140);
  connection.close(new Error("done"));
});

test("the throttle time of a Produce is its last field", quick, async () => {
  await using server = await serve((key, count) =>
    key === apiVersionsKey ? versions : Buffer.concat([number(count), number(count === 2 ? 150 : 0)]),
  );
  const connection = await open(server.address);
  const produce = ask({ name: "Produce", key: 0, version: 8, throttleAtEnd: true });
  assert.equal(await connection.send(produce, patient()), 2);
  await connection.send(produce, patient());
  assert.ok(server.received[2]!.at - server.received[1]!.at >= 140);
  connection.close(new Error("done"));
});

test("a throttle time that is longer than a call may last fails it", quick, async () => {
  await using server = await serve((key) => (key === apiVersionsKey ? versions : numbered(60_000, 1)));
  const connection = await open(server.address);
  await connection.send(ask(), patient());
  await assert.rejects(connection.send(ask(), new Deadline(20)), { broker: "TIMED_OUT" });
  assert.ok(connection.isOpen);
  connection.close(new Error("done"));
});

test("a version that the broker does not speak is not sent", quick, async () => {
  await using server = await serve(() => versions);
  const connection = await open(server.address);
  await assert.rejects(connection.send(ask({ version: 14 }), patient()), { broker: "UNSUPPORTED_VERSION" });
  await assert.rejects(connection.send(ask({ key: 99 }), patient()), { broker: "UNSUPPORTED_VERSION" });
  assert.equal(server.received.length, 1);
  connection.close(new Error("done"));
});

test("an answer that cannot be read ends the connection", quick, async () => {
  await using server = await serve((key) => (key === apiVersionsKey ? versions : Buffer.alloc(5)));
  const connection = await open(server.address);
  await assert.rejects(connection.send(ask(), patient()), {
    broker: "DISCONNECTED",
    message: /Metadata cannot be read/,
  });
  assert.equal(connection.isOpen, false);
  await assert.rejects(connection.send(ask(), patient()), { broker: "DISCONNECTED" });
});

test("a call without an answer ends the connection at its deadline, and the other calls on it", quick, async () => {
  await using server = await serve((key) => (key === apiVersionsKey ? versions : undefined));
  const connection = await open(server.address);
  const other = assert.rejects(connection.send(ask(), patient()), { broker: "TIMED_OUT" });
  await assert.rejects(connection.send(ask(), new Deadline(20)), {
    broker: "TIMED_OUT",
    message: /127\.0\.0\.1:\d+ has not answered Metadata within 20 ms/,
  });
  await other;
});

test("a server that says nothing, closes, or is none of Kafka's is an error in time", quick, async () => {
  await using silent = await serve(() => undefined);
  await assert.rejects(open(silent.address, 50), { broker: "TIMED_OUT", message: /a new connection within 50 ms/ });

  await using closing = await serve(() => undefined);
  closing.server.on("connection", (socket: Socket) => socket.end());
  await assert.rejects(open(closing.address), {
    broker: "DISCONNECTED",
    message: /it closed the connection/,
    wayOut: /no TLS and no SASL/,
  });

  await using web = await serve(() => undefined);
  web.server.on("connection", (socket: Socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  await assert.rejects(open(web.address), { broker: "DISCONNECTED" });

  const gone = await serve(() => undefined);
  await gone[Symbol.asyncDispose]();
  await assert.rejects(open(gone.address), {
    broker: "UNREACHABLE",
    message: /nothing listens there \(ECONNREFUSED\)/,
  });
  await assert.rejects(open({ host: "broker.invalid", port: 9092 }), {
    broker: "UNREACHABLE",
    message: /broker\.invalid:9092/,
  });
});

test("a socket that is destroyed or reset fails what waits", quick, async () => {
  await using server = await serve((key) => (key === apiVersionsKey ? versions : undefined));
  for (const end of ["destroy", "resetAndDestroy"] as const) {
    const connection = await open(server.address);
    const waiting = assert.rejects(connection.send(ask(), patient()), { broker: "DISCONNECTED" });
    while (server.received.at(-1)?.key === apiVersionsKey) await sleep(1);
    server.sockets.at(-1)![end]();
    await waiting;
    assert.equal(connection.isOpen, false);
    server.received.length = 0;
  }
});
