import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { temporaryFolder } from "../folder.ts";

/** Where Debian puts the server's programs; elsewhere they are on the PATH. */
const debian = "/usr/lib/postgresql";
const password = "correct horse";

/** The folder of `postgres` and `initdb`; undefined where there is no server. */
function programs(): string | undefined {
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : [];
  const folders = [...versions.map((version) => join(debian, version, "bin")), ...(process.env.PATH ?? "").split(":")];
  return folders.find((folder) => existsSync(join(folder, "postgres")) && existsSync(join(folder, "initdb")));
}

/** Undefined where one can be started; else why not. */
export function lacksServer(): string | undefined {
  if (!programs()) return "It needs a PostgreSQL server: on Debian `apt-get install postgresql`.";
  // As root it is started as another user, whose shells write there.
  if (userInfo().uid !== 0 || (statSync("/dev/null").mode & 0o002) !== 0) return undefined;
  return "It needs a /dev/null that every user may write: `chmod 666 /dev/null`.";
}

/** The server refuses to run as root: then it runs as the user that its package makes. */
function account(): { readonly uid?: number; readonly gid?: number } {
  if (userInfo().uid !== 0) return {};
  const [, , uid, gid] = /^postgres:.*$/m.exec(readFileSync("/etc/passwd", "utf8"))![0].split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

/** A cluster of its own, in a temporary folder, that can be reached through a socket in it alone. */
export class PostgresServer implements AsyncDisposable {
  readonly password = password;
  readonly #folder: ReturnType<typeof temporaryFolder>;
  #process: ChildProcess | undefined;

  private constructor(folder: ReturnType<typeof temporaryFolder>) {
    this.#folder = folder;
  }

  static async start(): Promise<PostgresServer> {
    const folder = temporaryFolder();
    const { uid, gid } = account();
    if (uid !== undefined) chownSync(folder.path, uid, gid!);
    const passwordFile = join(folder.path, "password");
    writeFileSync(passwordFile, password, { mode: 0o644 });
    const options = [
      "--username=epochflow",
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--no-sync",
    ];
    execFileSync(join(programs()!, "initdb"), ["-D", join(folder.path, "data"), ...options, "--locale=C"], {
      ...account(),
      cwd: folder.path,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const server = new PostgresServer(folder);
    await server.resume();
    return server;
  }

  /** How to get in. Its socket lies in a folder, which stands for a host. */
  connection(database = "postgres") {
    return { host: this.#folder.path, database, user: "epochflow" };
  }

  async client(database?: string): Promise<Client> {
    const client = new Client({ ...this.connection(database), password });
    client.on("error", () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  /** A database of this name, empty. */
  async database(name: string): Promise<void> {
    const client = await this.client();
    await client.query(`CREATE DATABASE ${name}`).finally(() => client.end());
  }

  /** Ends it as a machine does that fails: nothing is written any more. */
  async kill(): Promise<void> {
    await this.#end("SIGQUIT");
  }

  /** Starts it, again or at first, and waits until it answers. */
  async resume(): Promise<void> {
    const settings = ["listen_addresses=", `unix_socket_directories=${this.#folder.path}`, "max_connections=300"];
    const args = ["-D", join(this.#folder.path, "data"), ...settings.flatMap((one) => ["-c", one])];
    const child = spawn(join(programs()!, "postgres"), args, { ...account(), cwd: this.#folder.path, stdio: "ignore" });
    this.#process = child;
    for (let tries = 0; ; tries++) {
      try {
        await (await this.client()).end();
        return;
      } catch (cause) {
        if (child.exitCode !== null || tries === 300) throw new Error("PostgreSQL does not start", { cause });
        await sleep(50);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGINT");
    this.#folder[Symbol.dispose]();
  }

  async #end(signal: "SIGINT" | "SIGQUIT"): Promise<void> {
    const child = this.#process;
    if (child?.exitCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }
}
