import type { KafkaSasl } from "../connection/connection.ts";
import { LoginRefused } from "./connection-failure.ts";
import { Encoder, plain, scram256, scram512 } from "./kafkajs-modules.ts";

/** What kafkajs gives to whoever logs in. */
interface Context {
  readonly host: string;
  readonly port: number;
  readonly logger: object;
  saslAuthenticate(exchange: { request: { encode(): Promise<Buffer> }; response?: object }): Promise<unknown>;
}

/** `sasl` as kafkajs's connection takes it. Credentials are fetched for each login, and not kept. */
export function authenticatorOf(sasl: KafkaSasl): object {
  return {
    mechanism: sasl.mechanism,
    authenticationProvider: (context: Context) => ({ authenticate: () => authenticate(sasl, context) }),
  };
}

async function authenticate(sasl: KafkaSasl, context: Context): Promise<void> {
  if (sasl.mechanism === "oauthbearer") return bear(await sasl.token(), sasl.extensions ?? {}, context);
  const credentials = { username: await sasl.username(), password: await sasl.password() };
  await mechanisms[sasl.mechanism](credentials)(context).authenticate();
}

const mechanisms = { plain, "scram-sha-256": scram256, "scram-sha-512": scram512 };

/** OAUTHBEARER (RFC 7628). A refusal is no error but an answer, which kafkajs's own module does not read. */
async function bear(token: string, extensions: Readonly<Record<string, string>>, context: Context): Promise<void> {
  const pairs = Object.entries({ auth: `Bearer ${token}`, ...extensions }).map(
    ([name, value]) => `${name}=${value}\u0001`,
  );
  const message = new Encoder().writeBytes(Buffer.from(`n,,\u0001${pairs.join("")}\u0001`)).buffer;
  const raw = async (bytes: Buffer) => bytes;
  const answer = (await context.saslAuthenticate({
    request: { encode: async () => message },
    response: { decode: raw, parse: raw },
  })) as Buffer;
  const refusal = answer.subarray(4).toString();
  if (refusal !== "") throw new LoginRefused(`the broker answers ${statusOf(refusal)}`);
}

/** Of `{"status":"invalid_token", …}`. */
function statusOf(refusal: string): string {
  return /"status"\s*:\s*"([\w -]+)"/.exec(refusal)?.[1] ?? "that it does not accept the token";
}
