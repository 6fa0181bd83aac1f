import assert from "node:assert/strict";
import { test } from "node:test";
import type { UsageError } from "../../errors.ts";
import { text } from "../decoders/text.ts";
import { csv } from "../encoders/csv.ts";
import { parameter } from "../parameter.ts";
import { files } from "./files.ts";

test("a source of files is data, with its defaults", () => {
  const source = files.source({ path: "in", value: text() });
  assert.equal(source.kind, "files");
  assert.deepEqual(source.options, { path: "in", maxLineBytes: 16 * 1024 * 1024 });
  assert.deepEqual([source.outOfOrderMs, source.idleAfterMs, source.timestamp], [0, 60_000, undefined]);
});

test("which files are read, and how, is data where it is said", () => {
  const given = { path: "in", include: ["*.log", "*.log.gz"], exclude: "*.tmp", compression: "gzip" } as const;
  const { options } = files.source({ ...given, value: text() });
  assert.deepEqual(options, { ...given, maxLineBytes: 16 * 1024 * 1024 });
});

test("a sink of files is data", () => {
  const path = parameter("output");
  assert.deepEqual(files.sink({ path }), { kind: "files", options: { path } });
});

test("a sink of files says how they look, as far as it is told", () => {
  const format = csv<{ key: string; count: number }>({ columns: ["key", "count"] });
  const { options } = files.sink({
    path: "out",
    partitionBy: "{key}",
    format,
    compression: "gzip",
    maxFileBytes: 1000,
  });
  assert.deepEqual(options, { path: "out", partitionBy: "{key}", format, compression: "gzip", maxFileBytes: 1000 });
  const partitionBy = parameter("folders");
  assert.deepEqual(files.sink({ path: "out", partitionBy }).options, { path: "out", partitionBy });
});

test("what a sink's files cannot be is refused", () => {
  const bad = (options: object, code: string, message = /./) =>
    assert.throws(() => files.sink({ path: "out", ...options } as never), { code, message });
  for (const format of ["csv", csv, {}, null, { name: "x", encode: () => "", file: { extension: "../x" } }])
    bad({ format }, "invalid-option", /must be a format/);
  bad({ compression: "gzp" }, "invalid-option", /Did you mean "gzip"/);
  bad({ maxFileBytes: 0 }, "invalid-option");
  bad({ compact: { bytes: 0 } }, "invalid-option");
  bad({ compact: { age: "1h" } }, "invalid-duration");
  bad({ compact: { grace: -1 } }, "invalid-duration");
  bad({ compact: { after: 1 } }, "unknown-option");
  bad({ compact: true }, "invalid-options");
  assert.deepEqual(files.sink({ path: "out", compact: {} }).options, { path: "out", compact: {} });
  bad({ partitionBy: "{key" }, "invalid-path-template");
  bad({ partitionBy: "" }, "invalid-option");
});

test("a placeholder in the path is refused, with what was meant", () => {
  const meant = (path: string, wayOut: string) =>
    assert.throws(
      () => files.sink({ path }),
      (error: UsageError) => error.wayOut === wayOut,
    );
  meant(
    "s3://b/out/{windowStart:yyyy/MM/dd}/{key}",
    'Write path: "s3://b/out", partitionBy: "{windowStart:yyyy/MM/dd}/{key}".',
  );
  meant("out/day={t:yyyy}", 'Write path: "out", partitionBy: "day={t:yyyy}".');
  meant("{key}", 'Write path: ".", partitionBy: "{key}".');
  files.sink({ path: "out/{not one" });
});

test("what is not an option, or not a value for one, is refused", () => {
  const value = text();
  const bad = (options: object, code: string) => assert.throws(() => files.source(options as never), { code });
  bad({ path: "in", value, outOfOder: 1 }, "unknown-option");
  bad({ value }, "invalid-option");
  bad({ path: "", value }, "invalid-option");
  bad({ path: "in", value, maxLineBytes: 0 }, "invalid-option");
  bad({ path: "in", value, include: "" }, "invalid-option");
  bad({ path: "in", value, include: [] }, "invalid-option");
  bad({ path: "in", value, exclude: ["/var/log/*"] }, "invalid-option");
  bad({ path: "in", value, compression: "bzip2" }, "invalid-option");
  bad({ path: "in", value, outOfOrder: 0.5 }, "invalid-duration");
  bad({ path: "in", value, idleAfter: "1m" }, "invalid-duration");
  bad({ path: "in", value, timestamp: 5 }, "invalid-argument");
  bad({ path: "in" }, "invalid-argument");
  bad({ path: "in", value: text }, "invalid-argument");
  assert.throws(() => files.sink({ path: "" }), { code: "invalid-option" });
  assert.throws(() => files.sink({ paht: "out" } as never), { message: /"path"/ });
});
