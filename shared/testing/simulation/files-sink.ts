import { digest } from "../../epoch/digest.ts";
import { LossError } from "../../errors.ts";
import type { Json } from "../../json.ts";
import type { CommitUnit, Garbage, SinkContext, Transaction, TwoPhaseCommitSink } from "../../ports/sink.ts";
import type { Call } from "./log.ts";
import type { Publications } from "./publications.ts";

/** A folder: what is staged, published and sealed in it. One operation on it is one effect. */
export interface Folder {
  owner: string | undefined;
  readonly staged: Map<string, string>;
  readonly files: Map<string, string>;
  /** What was published without a manifest. */
  readonly direct: Map<string, string>;
  /** Names of the files of each epoch. */
  readonly manifests: Map<number, readonly string[]>;
}

export const emptyFolder = (): Folder => ({
  owner: undefined,
  staged: new Map(),
  files: new Map(),
  direct: new Map(),
  manifests: new Map(),
});

export interface PreparedFile {
  readonly staged: string;
  readonly file: string;
  readonly digest: string;
}

class Rows implements Transaction {
  readonly context: SinkContext;
  readonly lines: string[] = [];

  constructor(context: SinkContext) {
    this.context = context;
  }

  write(rows: readonly unknown[]): void {
    for (const row of rows) this.lines.push(JSON.stringify(row));
  }

  async drained(): Promise<void> {}
}

/** The files sink of DESIGN §9, step by step, on a folder that is a few maps. */
export class SimulatedFilesSink implements TwoPhaseCommitSink<unknown, PreparedFile & Json, PreparedFile & Json> {
  readonly #folder: Folder;
  readonly #call: Call;
  readonly #publications: Publications;

  constructor(folder: Folder, call: Call, publications: Publications) {
    this.#folder = folder;
    this.#call = call;
    this.#publications = publications;
  }

  async open({ uid, sink }: { uid: string; sink: string }): Promise<void> {
    const owner = `${uid}/${sink}`;
    await this.#call("files.claim", () => {
      this.#folder.owner ??= owner;
      if (this.#folder.owner !== owner) throw new LossError("output-taken", "the folder belongs to another ledger");
    });
  }

  async begin(context: SinkContext): Promise<Rows> {
    return new Rows(context);
  }

  async preCommit(transaction: Transaction): Promise<(PreparedFile & Json) | undefined> {
    const { context, lines } = transaction as Rows;
    if (lines.length === 0) return undefined;
    const { uid, epoch, attempt, stage, task, nonce } = context;
    const text = lines.join("\n");
    const staged = `${uid}.${epoch}.${attempt}.${stage}.${task}.${nonce}`;
    await this.#call("files.stage", () => {
      if (this.#folder.staged.has(staged)) throw new LossError("staged-exists", `${staged} exists`);
      this.#folder.staged.set(staged, text);
    });
    return { staged, file: `${epoch}.${stage}.${task}`, digest: digest(text as Json) };
  }

  async publish(transaction: Transaction): Promise<void> {
    const prepared = await this.preCommit(transaction);
    if (prepared === undefined) return;
    const { context, lines } = transaction as Rows;
    const { staged, direct } = this.#folder;
    await this.#call("files.publish", () => {
      const text = staged.get(prepared.staged);
      if (text === undefined) throw new LossError("staged-missing", `${prepared.staged} is gone`);
      direct.set(prepared.staged, text);
      this.#publications.add(context, "", lines);
    });
    await this.#remove(prepared.staged);
  }

  async commit({ unit }: { unit: PreparedFile }): Promise<void> {
    const { staged, files } = this.#folder;
    await this.#call("files.publish", () => {
      const text = files.get(unit.file) ?? staged.get(unit.staged);
      if (text === undefined) throw new LossError("staged-missing", `${unit.staged} is gone, and was not published`);
      if (digest(text as Json) !== unit.digest) throw new LossError("file-differs", `${unit.file} is something else`);
      files.set(unit.file, text);
    });
    await this.#remove(unit.staged);
  }

  async abort({ staged }: PreparedFile): Promise<void> {
    await this.#remove(staged);
  }

  async seal({ epoch, units }: { epoch: number; units: readonly CommitUnit<PreparedFile & Json>[] }): Promise<void> {
    const names = units.map(({ unit }) => unit.file);
    await this.#call("files.seal", () => {
      const there = this.#folder.manifests.get(epoch);
      if (there && there.join() !== names.join())
        throw new LossError("manifest-differs", `epoch ${epoch} was sealed with other files`);
      this.#folder.manifests.set(epoch, names);
    });
  }

  async sweep(_: unknown, garbage: Garbage): Promise<number> {
    const names = await this.#call("files.list", () => [...this.#folder.staged.keys()]);
    const old = names.filter((name) => {
      const [, epoch, attempt] = name.split(".");
      return garbage({ epoch: Number(epoch), attempt: Number(attempt) });
    });
    for (const name of old) await this.#remove(name);
    return old.length;
  }

  async close(): Promise<void> {}

  async #remove(name: string): Promise<void> {
    await this.#call("files.remove", () => this.#folder.staged.delete(name));
  }
}
