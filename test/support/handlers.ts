import type { Handlers } from "../../local/machine.ts";

/** The functions of the state machine, each made into another. */
export function mapHandlers(
  handlers: Handlers,
  map: (state: string, handler: Handlers[string]) => Handlers[string],
): Handlers {
  return Object.fromEntries(Object.entries(handlers).map(([state, handler]) => [state, map(state, handler)]));
}
