import { type SocketProxy, startProxy } from "../socket-proxy.ts";
import { type KafkaBroker, type KafkaOptions, startKafka } from "./broker.ts";
import { freePorts } from "./free-ports.ts";

/** A broker that clients reach through a proxy, and by it alone if they begin at `proxy.address`: it advertises the proxy's address there. */
export interface ProxiedKafka extends AsyncDisposable {
  /** Its plaintext listener, at `bootstrap`, leads past the proxy. */
  readonly broker: KafkaBroker;
  readonly proxy: SocketProxy;
}

export async function startProxiedKafka(options: KafkaOptions = {}): Promise<ProxiedKafka> {
  const proxy = await startProxy("127.0.0.1:0");
  try {
    const broker = await startKafkaBehind([proxy], options);
    const dispose = async () => {
      await proxy.close();
      await broker.stop();
    };
    return { broker, proxy, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await proxy.close();
    throw error;
  }
}

/** A broker with a listener for each proxy, to which it leads, and which advertises its address. */
export async function startKafkaBehind(
  proxies: readonly SocketProxy[],
  options: KafkaOptions = {},
): Promise<KafkaBroker> {
  const [port] = await freePorts(1);
  const names = proxies.map((_, index) => `PROXIED${index}`);
  const advertised = names.map((name, index) => `${name}://${proxies[index]!.address}`);
  const broker = await startKafka({
    ...options,
    port: port!,
    listeners: { ...options.listeners, ...Object.fromEntries(names.map((name) => [name, "PLAINTEXT" as const])) },
    settings: {
      ...options.settings,
      "advertised.listeners": [`PLAINTEXT://127.0.0.1:${port}`, ...advertised].join(","),
    },
  });
  for (const [index, name] of names.entries()) proxies[index]!.target = broker.addresses[name]!;
  return broker;
}
