import type { Executions } from "../shared/ports/executions.ts";

/**
 * Executions of this process. Whoever has one holds the lock on the state's lease, which the system frees at death: so a name that was not started
 * here belongs to a process that is dead, and its execution is over.
 */
export class LocalExecutions implements Executions {
  private readonly running = new Map<string, Promise<void>>();
  private readonly started = new Set<string>();
  private readonly begin: (name: string) => Promise<void>;

  constructor(begin: (name: string) => Promise<void>) {
    this.begin = begin;
  }

  async start(name: string): Promise<"started" | "exists"> {
    if (this.started.has(name)) return "exists";
    this.started.add(name);
    this.running.set(
      name,
      this.begin(name).finally(() => this.running.delete(name)),
    );
    return "started";
  }

  async describe(name: string): Promise<"running" | "over"> {
    return this.running.has(name) ? "running" : "over";
  }

  /** Resolves when nothing runs any more; rejects with the first failure. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running.values());
  }
}
