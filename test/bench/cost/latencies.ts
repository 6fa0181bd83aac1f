import { type AwsRequest, operationOf } from "../../support/emulator/aws-answers.ts";

/**
 * Milliseconds that AWS's services are assumed to take, as a Lambda function in the same region sees them: a few for DynamoDB, some tens for S3. They are
 * not measured, and matter little: they are a part of the time that functions are billed for.
 */
export function typicalMs(request: AwsRequest): number {
  const operation = operationOf(request);
  if (operation === "TransactWriteItems" || operation === "TransactGetItems") return 15;
  if (operation !== undefined) return 6;
  return request.method === "PUT" || request.method === "POST" ? 50 : 25;
}
