import type { Timeline } from "./timeline.ts";

const everyMs = 500;

/** What happens now, on one line of a terminal; nothing where there is none. */
export class ProgressLine implements Disposable {
  #title = "";
  #timeline: Timeline | undefined;
  readonly #timer = setInterval(() => this.#draw(), everyMs).unref();

  watch(title: string, timeline: Timeline): void {
    this.#title = title;
    this.#timeline = timeline;
  }

  clear(): void {
    this.#timeline = undefined;
    if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.clear();
  }

  #draw(): void {
    if (!process.stderr.isTTY || this.#timeline === undefined) return;
    const text = `${this.#title}: ${this.#timeline.last}`.split("\n", 1)[0]!;
    process.stderr.write(`\r\x1b[K${text.slice(0, process.stderr.columns - 1)}`);
  }
}
