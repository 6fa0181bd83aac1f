import { anEmulator, needing } from "../needing.ts";
import { type Emulator, startEmulator } from "./emulator.ts";
import { type FaultPlan, type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { type Clients, clientsOf } from "./services.ts";

const { after, before } = await needing(anEmulator);

/** What a test file has once its tests run. */
export interface Fixture {
  readonly emulator: Emulator;
  readonly clients: Clients;
  readonly proxy: FaultProxy;
  /** The same through the proxy. */
  readonly faulty: Clients;
}

/** An emulator for the tests of one file, which is ended with them. */
export function useEmulator(plan: FaultPlan): Fixture {
  const fixture = {} as { -readonly [Name in keyof Fixture]: Fixture[Name] };
  before(async () => {
    fixture.emulator = await startEmulator();
    fixture.clients = clientsOf(fixture.emulator.endpoint);
    fixture.proxy = await startFaultProxy(fixture.emulator.endpoint, plan);
    // Shorter than the product's, since silence is one of the faults.
    fixture.faulty = clientsOf(fixture.proxy.endpoint, 3_000);
  });
  after(async () => {
    fixture.faulty.close();
    await fixture.proxy.close();
    fixture.clients.close();
    await fixture.emulator.stop();
  });
  return fixture;
}
