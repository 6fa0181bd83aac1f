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
  const [port] = await freePorts(1);
  const proxy = await startProxy("127.0.0.1:0");
  try {
    const broker = await startKafka({
      ...options,
      port: port!,
      listeners: { ...options.listeners, PROXIED: "PLAINTEXT" },
      settings: {
        ...options.settings,
        "advertised.listeners": `PLAINTEXT://127.0.0.1:${port},PROXIED://${proxy.address}`,
      },
    });
    proxy.target = broker.addresses.PROXIED!;
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
