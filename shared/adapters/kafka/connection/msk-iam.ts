import { UsageError } from "../../../errors.ts";
import type { FetchText } from "./connection.ts";

/** Bearer tokens for Amazon MSK, signed by the AWS credentials of the surroundings, valid for 15 minutes. The signer is loaded when the first one is asked for. */
export function mskIamToken(region: string | undefined): FetchText {
  return async () => {
    const where = region ?? process.env.AWS_REGION;
    if (where === undefined) {
      throw new UsageError("missing-region", "SASL by aws-msk-iam needs the region of the MSK cluster", {
        wayOut: "Set `region` of `sasl`, or the environment variable AWS_REGION.",
      });
    }
    const { generateAuthToken } = await loadSigner();
    return (await generateAuthToken({ region: where })).token;
  };
}

async function loadSigner(): Promise<typeof import("aws-msk-iam-sasl-signer-js")> {
  try {
    return await import("aws-msk-iam-sasl-signer-js");
  } catch (cause) {
    throw new UsageError("missing-package", "SASL by aws-msk-iam needs the package aws-msk-iam-sasl-signer-js", {
      wayOut: "Install it: npm install aws-msk-iam-sasl-signer-js",
      cause,
    });
  }
}
