import { createInterface } from "node:readline";
import { UsageError } from "../shared/errors.ts";

/**
 * Asks on the terminal; only a plain yes is one, and the end of the input is a no.
 *
 * @param look the command that shows beforehand what it would do
 * @throws UsageError `confirmation-needed` where there is nobody to ask.
 */
export async function confirm(question: string, options: { yes?: true }, look = "epochflow status"): Promise<boolean> {
  if (options.yes === true) return true;
  if (process.stdin.isTTY !== true) {
    throw new UsageError("confirmation-needed", "This asks first, and there is no terminal to ask on.", {
      wayOut: `Look at what it would do with \`${look}\`, then add --yes.`,
    });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await new Promise<string>((resolve) => {
    terminal.on("close", () => resolve(""));
    terminal.question(`${question} [y/N] `, resolve);
  });
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
