import { type Emulator, startEmulator } from "../emulator/emulator.ts";
import { type FaultProxy, startFaultProxy } from "../emulator/fault-proxy.ts";
import { type Clients, clientsOf } from "../emulator/services.ts";
import { temporaryFolder } from "../folder.ts";
import { type KafkaBroker, startKafka } from "../kafka/broker.ts";
import { type Oracle, startOracle } from "../kafka/oracle.ts";

/** AWS and Kafka, as a test file starts them once. */
export interface World extends AsyncDisposable {
  readonly emulator: Emulator;
  readonly clients: Clients;
  /** To the emulator, for functions: without a fault until one is injected. */
  readonly proxy: FaultProxy;
  readonly broker: KafkaBroker;
  readonly oracle: Oracle;
  /** For what is synthesized. */
  readonly folder: string;
}

export async function startWorld(): Promise<World> {
  await using starting = new AsyncDisposableStack();
  const [emulator, broker] = await Promise.all([startEmulator({ reachesHost: true }), startKafka()]);
  starting.use(emulator);
  starting.use(broker);
  const oracle = starting.use(await startOracle(broker.bootstrap));
  const clients = starting.use(clientsOf(emulator.endpoint));
  const proxy = starting.use(await startFaultProxy(emulator.endpoint, { seed: 1, oneIn: Number.MAX_SAFE_INTEGER }));
  const folder = starting.use(temporaryFolder()).path;
  const started = starting.move();
  const end = () => started.disposeAsync();
  return { emulator, clients, proxy, broker, oracle, folder, [Symbol.asyncDispose]: end };
}
