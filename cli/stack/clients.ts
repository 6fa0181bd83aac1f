import { clientSettings } from "../../shared/adapters/aws/client-settings.ts";
import type { StackOptions } from "../stack-options.ts";

/** A person waits: an answer comes soon, or there is none. */
const patience = { requestTimeoutMs: 5_000, maxAttempts: 3 };

/**
 * Settings of a client of AWS for a command. Credentials and region are those that the SDK finds: in the environment, in the files that `aws configure` and
 * `aws sso login` write, or of the machine.
 */
export function settingsFor({ profile, region }: StackOptions, change: Partial<typeof patience> = {}) {
  return {
    ...clientSettings({ ...patience, ...change }),
    ...(profile !== undefined && { profile }),
    ...(region !== undefined && { region }),
  };
}
