/**
 * What the `Cause` of a failed step says. Of a Lambda function it is the exception as JSON, which nobody wants to read; of all else a text.
 */
export function messageInCause(cause: string): string {
  try {
    const { errorMessage } = JSON.parse(cause);
    return typeof errorMessage === "string" && errorMessage !== "" ? errorMessage : cause;
  } catch {
    return cause;
  }
}
