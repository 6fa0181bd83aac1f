import type { ISecret } from "aws-cdk-lib/aws-secretsmanager";
import type { Right } from "../rights.ts";

/** To read a secret, and to decrypt it where it has a key of its own. */
export function secretRights(secrets: readonly (ISecret | undefined)[]): Right[] {
  return secrets.flatMap((secret) => {
    if (secret === undefined) return [];
    const { encryptionKey } = secret;
    return [
      { actions: ["secretsmanager:GetSecretValue"], resources: [arnOf(secret)] },
      ...(encryptionKey ? [{ actions: ["kms:Decrypt"], resources: [encryptionKey.keyArn] }] : []),
    ];
  });
}

/** A secret that is imported by its name has six characters more in its ARN. */
const arnOf = ({ secretFullArn, secretArn }: ISecret): string => secretFullArn ?? `${secretArn}-??????`;
