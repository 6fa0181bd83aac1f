/** What happened in a round, and when. */
export class Timeline {
  readonly #began = performance.now();
  readonly #events: string[] = [];

  /** Is told each event, as a line. */
  onEvent: ((line: string) => void) | undefined;

  note(what: string): void {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(3).padStart(8);
    const line = `${seconds} s  ${what}`;
    this.#events.push(line);
    this.onEvent?.(line);
  }

  get last(): string {
    return this.#events.at(-1)?.slice(12) ?? "";
  }

  /** A line an event. */
  toString(): string {
    return this.#events.map((event) => `${event}\n`).join("");
  }
}
