import { type Emulator, startEmulator } from "../../support/emulator/emulator.ts";
import { type Clients, clientsOf } from "../../support/emulator/services.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { type KafkaWorld, LocalWorld } from "../local/world.ts";
import type { Arena, Round } from "../round.ts";
import { EmulatorRound } from "./round.ts";

export interface EmulatorWorld {
  readonly emulator: Emulator;
  readonly clients: Clients;
  /** For what is synthesized. */
  readonly folder: string;
  /** One that may be killed at any time. */
  kafka(): Promise<KafkaWorld>;
}

/** Pipelines that are deployed to an emulator of AWS, beside a real broker. */
export class EmulatorArena implements Arena {
  readonly count: number;
  readonly #world: EmulatorWorld;
  readonly #started: AsyncDisposableStack;

  /** @param given of a round, for tests */
  static async start(given: { readonly count?: number } = {}): Promise<EmulatorArena> {
    await using starting = new AsyncDisposableStack();
    // What the state machine waits for is seconds, and up to a minute.
    const emulator = starting.use(await startEmulator({ reachesHost: true, environment: { SFN_WAIT_SCALE: "0.03" } }));
    const clients = starting.use(clientsOf(emulator.endpoint));
    const folder = starting.use(temporaryFolder()).path;
    const brokers = starting.use(new LocalWorld());
    const world = { emulator, clients, folder, kafka: () => brokers.kafka("3.9.2") };
    return new EmulatorArena(world, given.count ?? 50, starting.move());
  }

  private constructor(world: EmulatorWorld, count: number, started: AsyncDisposableStack) {
    this.#world = world;
    this.count = count;
    this.#started = started;
  }

  begin(seed: number): Promise<Round> {
    return EmulatorRound.begin(this.#world, seed);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#started.disposeAsync();
  }
}
