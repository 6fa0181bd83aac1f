/**
 * How often and how long AWS's clients try, for every service alike. Region, credentials, profile and endpoint come from the SDK's own chain.
 *
 * The SDK tries again what is throttled, unreachable or an error of the service, with back-off and jitter; conditions make that safe here. A call whose
 * answer is lost must end (the SDK's default is to wait for ever), since a worker's deadline is near.
 */
export function clientSettings({ requestTimeoutMs = 5_000, maxAttempts = 6 } = {}) {
  return {
    maxAttempts,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: requestTimeoutMs, throwOnRequestTimeout: true },
  };
}

/** A part of a large object takes its time. */
export const objectRequestTimeoutMs = 60_000;
