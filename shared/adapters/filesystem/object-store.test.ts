import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { folderOf } from "../../../test/support/folder.ts";
import { remount, smallDisk } from "../../../test/support/mount.ts";
import { objectStoreConformance } from "../../testing/object-store-conformance.ts";
import { fileSystemError } from "./errors.ts";
import { FileSystemObjectStore } from "./object-store.ts";

objectStoreConformance("file system", async () => {
  const root = join(mkdtempSync(join(tmpdir(), "epochflow-objects-")), "store");
  const dispose = async () => rmSync(join(root, ".."), { recursive: true });
  return { store: new FileSystemObjectStore(root), another: async () => new FileSystemObjectStore(root), dispose };
});

const durable = { durable: true };
const bytes = (size: number) => [Buffer.alloc(size, "x")];
const keysOf = async (store: FileSystemObjectStore) => {
  const keys: string[] = [];
  for await (const key of store.list("")) keys.push(key);
  return keys.sort();
};

test("FileSystemObjectStore: emptied folders go, others and the root stay", async (context) => {
  const root = folderOf(context);
  const store = new FileSystemObjectStore(root);
  for (const key of ["a/b/c", "a/d", "e"]) await store.put(key, bytes(1), durable);
  await store.delete(["a/b/c"]);
  assert.deepEqual(readdirSync(root, { recursive: true }).sort(), ["a", "a/d", "e", "~partial"]);
  await store.delete(["a/d", "e"]);
  assert.deepEqual(readdirSync(root), ["~partial"]);
});

test("FileSystemObjectStore: what a crash left is no object, and is swept", async (context) => {
  const root = folderOf(context);
  const store = new FileSystemObjectStore(root);
  assert.equal(await store.sweep(), 0);
  await store.put("a", bytes(1), durable);
  assert.deepEqual(readdirSync(join(root, "~partial")), []);
  writeFileSync(join(root, "~partial", "left"), "half an obj");
  assert.deepEqual(await keysOf(store), ["a"]);
  assert.equal(await store.sweep(), 1);
  assert.deepEqual(readdirSync(join(root, "~partial")), []);
});

test("FileSystemObjectStore: files whose names are no keys, and links, are not listed", async (context) => {
  const root = folderOf(context);
  const store = new FileSystemObjectStore(root);
  await store.put("a/b", bytes(1), durable);
  writeFileSync(join(root, "a", "not a key"), "");
  symlinkSync("/etc", join(root, "a", "link"));
  assert.deepEqual(await keysOf(store), ["a/b"]);
});

test("FileSystemObjectStore: killed at any moment, every object is whole", async (context) => {
  const root = folderOf(context);
  const program = new URL("../../../test/support/object-process.ts", import.meta.url).pathname;
  const said: string[] = [];
  for (let round = 0; round < 4; round++) {
    const child = spawn(process.execPath, [program, root, String(round)], { stdio: ["ignore", "pipe", "inherit"] });
    context.after(() => child.kill("SIGKILL"));
    let text = "";
    child.stdout.on("data", (data) => {
      text += String(data);
      if (text.length > 60 * (round + 1)) child.kill("SIGKILL");
    });
    await once(child, "close");
    said.push(...text.split(" ").filter(Boolean));
  }
  const store = new FileSystemObjectStore(root);
  const keys = await keysOf(store);
  assert.deepEqual(
    said.filter((key) => !keys.includes(key)),
    [],
  );
  for (const key of keys) {
    const object = Buffer.from((await store.get(key))!);
    assert(createHash("sha256").update(object.subarray(32)).digest().equals(object.subarray(0, 32)), key);
  }
  await store.sweep();
  assert.deepEqual(readdirSync(join(root, "~partial")), []);
});

test("FileSystemObjectStore: a full disk is an error that names the folder, leaves nothing, and passes", async (context) => {
  const root = smallDisk(context, 64 << 10);
  if (!root) return;
  const store = new FileSystemObjectStore(root);
  await store.put("a/first", bytes(20_000), durable);
  for (const options of [durable, { durable: false }])
    await assert.rejects(store.put("a/second", bytes(50_000), options), {
      kind: "infrastructure",
      code: "disk-full",
      place: { file: root },
      message: new RegExp(root),
    });
  assert.deepEqual(await keysOf(store), ["a/first"]);
  assert.deepEqual(readdirSync(join(root, "~partial")), []);
  await store.delete(["a/first"]);
  await store.put("a/second", bytes(30_000), durable);
  assert.equal((await store.get("a/second"))?.length, 30_000);
});

test("FileSystemObjectStore: a read-only disk is an error that names the folder, and can be read", async (context) => {
  const root = smallDisk(context, 64 << 10);
  if (!root) return;
  const store = new FileSystemObjectStore(root);
  await store.put("a", bytes(3), durable);
  remount(root, "ro");
  const error = { kind: "infrastructure", code: "read-only", place: { file: root } };
  await assert.rejects(store.put("b", bytes(3), durable), error);
  await assert.rejects(store.delete(["a"]), error);
  assert.equal((await store.get("a"))?.length, 3);
});

test("FileSystemObjectStore: a file in a folder's place is an error that names the folder", async (context) => {
  const folder = folderOf(context);
  writeFileSync(join(folder, "file"), "");
  const error = { kind: "infrastructure", code: "not-a-folder" };
  await assert.rejects(new FileSystemObjectStore(join(folder, "file")).put("a", bytes(1), durable), error);
  await assert.rejects(new FileSystemObjectStore(join(folder, "file")).get("a"), error);
  const store = new FileSystemObjectStore(folder);
  await store.put("a", bytes(1), durable);
  for (const key of ["a/b", "a/b/c"]) await assert.rejects(store.put(key, bytes(1), durable), error);
  mkdirSync(join(folder, "b", "c"), { recursive: true });
  assert.equal(await store.get("b"), undefined);
  await assert.rejects(store.put("b/c", bytes(1), durable), { code: "object-exists" });
});

test("fileSystemError: each code says what is the matter, and keeps its cause", () => {
  const of = (code: string) =>
    fileSystemError(Object.assign(new Error(`${code}: text`), { code }), "store an object", "/the/folder");
  const codes = {
    ENOSPC: "disk-full",
    EDQUOT: "disk-full",
    EACCES: "not-permitted",
    EPERM: "not-permitted",
    EROFS: "read-only",
    ENOTDIR: "not-a-folder",
    ENOENT: "folder-missing",
    EMFILE: "too-many-files",
    EIO: "file-system",
  };
  for (const [code, expected] of Object.entries(codes)) {
    const error = of(code);
    assert.deepEqual([error.code, error.kind, error.place.file], [expected, "infrastructure", "/the/folder"]);
    assert.match(error.message, /^Cannot store an object in \/the\/folder: /);
    assert.equal((error.cause as NodeJS.ErrnoException).code, code);
  }
  assert.match(of("EIO").message, /EIO: text/);
  assert.equal(fileSystemError(of("EIO"), "x", "y").message, of("EIO").message);
});
