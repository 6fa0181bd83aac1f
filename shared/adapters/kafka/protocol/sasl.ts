import { brokerErrorName } from "../broker-errors.ts";
import type { KafkaSasl } from "../connection/connection.ts";
import type { Address } from "./address.ts";
import { LoginRefused } from "./connection-failure.ts";
import { Decoder, Encoder, loadScram } from "./kafkajs-modules.ts";
import { readNumber } from "./requests/wire.ts";

/** A request whose answer has no throttle time. */
export interface LoginRequest {
  readonly name: string;
  readonly key: number;
  readonly version: number;
  readonly body: readonly Buffer[];
}

type Send = (request: LoginRequest) => Promise<Buffer>;

/** What the broker says to the bytes of a mechanism. */
interface Said {
  readonly bytes: Buffer;
  /** Milliseconds for which the login counts (KIP-368); 0: for ever. */
  readonly sessionMs: number;
}

/**
 * Logs in (KIP-43, KIP-152). Credentials are fetched for each login, and not kept.
 *
 * @returns milliseconds for which the login counts; 0: for ever
 * @throws LoginRefused; what a function that fetches a secret throws
 */
export async function login(sasl: KafkaSasl, address: Address, send: Send): Promise<number> {
  await shakeHands(sasl.mechanism.toUpperCase(), send);
  let sessionMs = 0;
  const say = async (message: Buffer) => {
    const said = await authenticate(message, send);
    sessionMs = said.sessionMs;
    return said.bytes;
  };
  if (sasl.mechanism === "oauthbearer") await bear(await sasl.token(), sasl.extensions ?? {}, say);
  else {
    const credentials = { username: await sasl.username(), password: await sasl.password() };
    if (sasl.mechanism === "plain") await say(plainMessage(credentials));
    else await scram(sasl.mechanism, credentials, address, say);
  }
  return sessionMs;
}

/** SaslHandshake: the mechanism, for SaslAuthenticate to follow. */
async function shakeHands(mechanism: string, send: Send): Promise<void> {
  const body = [new Encoder().writeString(mechanism).buffer];
  const answer = new Decoder(await send({ name: "SaslHandshake", key: 17, version: 1, body }));
  const code = answer.readInt16();
  const enabled = answer.readArray((decoder) => decoder.readString());
  if (code === 0 && enabled.includes(mechanism)) return;
  const offers = enabled.length > 0 ? `, and offers ${enabled.join(", ")}` : "";
  throw new LoginRefused(`the broker answers ${brokerErrorName(code)}${offers}`);
}

async function authenticate(message: Buffer, send: Send): Promise<Said> {
  const body = [new Encoder().writeBytes(message).buffer];
  const answer = new Decoder(await send({ name: "SaslAuthenticate", key: 36, version: 1, body }));
  const code = answer.readInt16();
  const text = answer.readString();
  if (code !== 0) throw new LoginRefused(text || `the broker answers ${brokerErrorName(code)}`);
  return { bytes: answer.readBytes() ?? Buffer.alloc(0), sessionMs: readNumber(answer) };
}

interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** RFC 4616. */
const plainMessage = ({ username, password }: Credentials): Buffer => Buffer.from(`\0${username}\0${password}`);

type Say = (message: Buffer) => Promise<Buffer>;

async function scram(
  mechanism: keyof typeof loadScram,
  credentials: Credentials,
  address: Address,
  say: Say,
): Promise<void> {
  const provider = await loadScram[mechanism]();
  const dialogue = provider(credentials)({
    ...address,
    logger: silent,
    async saslAuthenticate({ request, response }) {
      const message = new Decoder(await request.encode()).readBytes() ?? Buffer.alloc(0);
      const said = await say(message);
      return response?.parse(await response.decode(new Encoder().writeBytes(said).buffer));
    },
  });
  await dialogue.authenticate();
}

const nothing = () => {};
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** OAUTHBEARER (RFC 7628). A refusal is no error but an answer. */
async function bear(token: string, extensions: Readonly<Record<string, string>>, say: Say): Promise<void> {
  const pairs = Object.entries({ auth: `Bearer ${token}`, ...extensions }).map(
    ([name, value]) => `${name}=${value}\u0001`,
  );
  const refusal = (await say(Buffer.from(`n,,\u0001${pairs.join("")}\u0001`))).toString();
  if (refusal !== "") throw new LoginRefused(`the broker answers ${statusOf(refusal)}`);
}

/** Of `{"status":"invalid_token", …}`. */
function statusOf(refusal: string): string {
  return /"status"\s*:\s*"([\w -]+)"/.exec(refusal)?.[1] ?? "that it does not accept the token";
}
