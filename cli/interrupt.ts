import { performance } from "node:perf_hooks";
import { exitCodes } from "./exit-codes.ts";

/** A terminal sends Ctrl-C to npx and to us, and npx passes it on: signals this close together are one. */
const sameKeystrokeMs = 250;

export interface Interrupt extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Aborts `signal` at the first Ctrl-C (SIGINT) or SIGTERM. A second Ctrl-C ends the process at once, which is as good as a crash, and so loses
 * nothing. `on` is told before.
 */
export function listenForInterrupt(on: { first(): void; second(): void }): Interrupt {
  const controller = new AbortController();
  let firstAt: number | undefined;
  const listen = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      on.first();
      controller.abort();
    } else if (signal === "SIGINT" && now - firstAt > sameKeystrokeMs) {
      on.second();
      process.exit(exitCodes.interrupted);
    }
  };
  process.on("SIGINT", listen).on("SIGTERM", listen);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      process.off("SIGINT", listen).off("SIGTERM", listen);
    },
  };
}
