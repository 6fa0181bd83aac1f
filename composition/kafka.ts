import { type KafkaConnection, resolveConnection } from "../shared/adapters/kafka/connection/connection.ts";
import { createKafkaClient } from "../shared/adapters/kafka/kafkajs.ts";
import { createKafkaSink } from "../shared/adapters/kafka/sink/sink.ts";
import { createKafkaSource } from "../shared/adapters/kafka/source/source.ts";
import { systemClock } from "../shared/adapters/system/clock.ts";
import { systemRandom } from "../shared/adapters/system/random.ts";
import type { KafkaSinkSettings, KafkaSourceSettings } from "../shared/pipeline/connectors/kafka.ts";
import type { KafkaConnectionSettings } from "../shared/pipeline/connectors/kafka-connection.ts";
import type { Connector, KafkaAccess, Surroundings } from "./connector.ts";

/** One client a cluster, which its sources and sinks share. */
export function kafkaConnector({ objects, bounded, stays = false, kafkaAccess }: Surroundings): Connector {
  type Client = ReturnType<typeof createKafkaClient>;
  const clients = new Map<KafkaConnectionSettings, Client>();
  const clientOf = (settings: KafkaConnectionSettings): Client => {
    const client = clients.get(settings) ?? createKafkaClient(connectionOf(settings, kafkaAccess));
    clients.set(settings, client);
    return client;
  };
  const ports = { clock: systemClock, random: systemRandom };
  return {
    source(options) {
      const settings = options as unknown as KafkaSourceSettings;
      return createKafkaSource(settings, clientOf(settings.connection), { bounded, stays, ...ports });
    },
    sink(options) {
      const settings = options as unknown as KafkaSinkSettings;
      return createKafkaSink(settings, clientOf(settings.connection), objects, ports);
    },
    close: async () => void (await Promise.all([...clients.values()].map((client) => client.close()))),
  };
}

/** A connection's own TLS and SASL, or those that the deployment has for these brokers. */
export function connectionOf(settings: KafkaConnectionSettings, access: KafkaAccess | undefined): KafkaConnection {
  const { tls, sasl, brokers } = settings;
  const takesAccess = tls === undefined && sasl === undefined && String(brokers) === access?.brokers;
  if (!takesAccess) return resolveConnection(settings);
  return {
    ...resolveConnection(settings),
    ...(access.tls && { tls: access.tls }),
    ...(access.sasl && { sasl: access.sasl }),
  };
}
