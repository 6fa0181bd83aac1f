import type { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { InfrastructureError } from "../shared/errors.ts";

/** How long a value is used before it is fetched again, so that a rotated secret is seen soon, and not each connection costs a call. */
const freshMs = 60_000;

type Fields = Readonly<Record<string, unknown>>;

/** Secrets of AWS Secrets Manager that are JSON objects of texts. What goes wrong is told by ARN and key, never by value. */
export class SecretTexts {
  readonly #client: () => Promise<SecretsManagerClient>;
  readonly #fetched = new Map<string, { readonly fields: Promise<Fields>; readonly until: number }>();

  /** @param client made when the first secret is asked for */
  constructor(client: () => Promise<SecretsManagerClient>) {
    this.#client = client;
  }

  /** @throws InfrastructureError `secret-unavailable`, `odd-secret`: the next attempt asks again */
  async text(arn: string, key: string): Promise<string> {
    const value = (await this.#fields(arn))[key];
    if (typeof value === "string" && value !== "") return value;
    throw oddSecret(arn, `has no text "${key}"`, key);
  }

  /** An empty text where the secret has none of this key. */
  async optionalText(arn: string, key: string): Promise<string> {
    return (await this.#fields(arn))[key] === undefined ? "" : await this.text(arn, key);
  }

  #fields(arn: string): Promise<Fields> {
    const known = this.#fetched.get(arn);
    if (known !== undefined && performance.now() < known.until) return known.fields;
    const fields = this.#fetch(arn);
    this.#fetched.set(arn, { fields, until: performance.now() + freshMs });
    fields.catch(() => this.#fetched.delete(arn));
    return fields;
  }

  async #fetch(arn: string): Promise<Fields> {
    const { GetSecretValueCommand } = await import("@aws-sdk/client-secrets-manager");
    const client = await this.#client();
    const { SecretString: text = "" } = await client
      .send(new GetSecretValueCommand({ SecretId: arn }))
      .catch((cause: unknown) => {
        throw unavailable(arn, cause);
      });
    return fieldsOf(arn, text);
  }
}

function fieldsOf(arn: string, text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's error would repeat a part of the text.
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw oddSecret(arn, "is no JSON object");
}

function oddSecret(arn: string, problem: string, key = "…"): InfrastructureError {
  return new InfrastructureError("odd-secret", `The secret ${arn} ${problem}`, {
    wayOut: `Store it as a JSON object of texts, with "${key}" in it. The next attempt reads it again.`,
  });
}

function unavailable(arn: string, cause: unknown): InfrastructureError {
  const name = cause instanceof Error ? cause.name : "unknown error";
  return new InfrastructureError("secret-unavailable", `The secret ${arn} cannot be had (${name})`, {
    wayOut:
      "Check that it exists in this region, and that the function's role may read it; from a VPC it takes a NAT gateway or an endpoint of Secrets Manager.",
    cause,
  });
}
