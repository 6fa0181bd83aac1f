import assert from "node:assert/strict";
import { test } from "node:test";
import { files, parameter, pipeline, text } from "../index.ts";
import { bind } from "./bind.ts";
import { describe } from "./describe.ts";
import { Parameter } from "./parameter.ts";
import type { SinkDescription, Topology } from "./topology.ts";

const demo = () => {
  const value = text();
  return pipeline("demo")
    .from(files.source({ path: parameter("input"), value }))
    .to(files.sink({ path: parameter("output") }))
    .to(files.sink({ path: parameter("output", "out") }))
    .to(files.sink({ path: parameter("output") }));
};
const paths = ({ nodes, sinks }: Topology) => [
  ...nodes.flatMap((node) => (node.kind === "source" ? [node.source.options.path] : [])),
  ...Object.values(sinks).map((sink) => sink.options.path),
];

test("parameters are found once each, with the default that one of them has", () => {
  assert.deepEqual(describe(demo()).parameters, [new Parameter("input", undefined), new Parameter("output", "out")]);
});

test("values and defaults take the place of parameters; the description stays", () => {
  const topology = describe(demo());
  const bound = bind(topology, { input: "logs" });
  assert.deepEqual(paths(bound), ["logs", "out", "out", "out"]);
  assert.deepEqual(bound.parameters, []);
  assert.deepEqual(paths(bind(topology, { input: "logs", output: "there" })), ["logs", "there", "there", "there"]);
  assert(paths(topology)[0] instanceof Parameter);
});

test("parameters inside of lists and objects are found; other objects stay as they are", () => {
  const client = new Map();
  const options = { brokers: [parameter("broker"), "b:9092"], connection: { user: parameter("user", "me") }, client };
  const sink: SinkDescription<string> = { kind: "custom", options };
  const topology = describe(
    pipeline("demo")
      .from(files.source({ path: "in", value: text() }))
      .to(sink),
  );
  assert.deepEqual(
    topology.parameters.map(({ name }) => name),
    ["broker", "user"],
  );
  const bound = bind(topology, { broker: "a:9092" }).sinks["sink-1"]!.options;
  assert.deepEqual(bound, { brokers: ["a:9092", "b:9092"], connection: { user: "me" }, client });
  assert.equal(bound.client, client);
});

test("a value that is missing or unknown is refused, with all parameters named", () => {
  const topology = describe(demo());
  assert.throws(() => bind(topology, {}), {
    code: "missing-parameter",
    message: 'Pipeline demo needs a value for the parameter "input"',
    wayOut: "Give it with --set input=VALUE. Its parameters are: input, output (out).",
  });
  assert.throws(() => bind(topology, { input: "x", outptu: "y" }), {
    code: "unknown-parameter",
    message: 'Pipeline demo has no parameter "outptu". Did you mean "output"?',
  });
  assert.throws(() => bind(topology, { input: "x", toString: "y" }), { code: "unknown-parameter" });
});

test("one name with two defaults is refused, and so is a strange name", () => {
  const stream = pipeline("demo").from(files.source({ path: parameter("path", "a"), value: text() }));
  stream.to(files.sink({ path: parameter("path", "b") }));
  assert.throws(() => describe(stream), { code: "parameter-conflict" });
  for (const name of ["", "a=b", "1", "a b", undefined as never]) {
    assert.throws(() => parameter(name), { code: "invalid-parameter" });
  }
  assert.throws(() => parameter("port", 9092 as never), { code: "invalid-parameter" });
});
