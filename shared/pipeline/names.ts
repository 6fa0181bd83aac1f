import { UsageError } from "../errors.ts";

const namePattern = /^[a-z0-9][a-z0-9-]{0,39}$/;

/**
 * Checks the name of a pipeline or the id of an operator or sink. They become part of object keys, file names, execution names and
 * transactional ids, some of which are short, or ignore case.
 *
 * @throws UsageError `invalid-name`
 */
export function checkName(what: string, name: unknown): string {
  if (typeof name === "string" && namePattern.test(name)) return name;
  throw new UsageError("invalid-name", `${JSON.stringify(name)} cannot be the ${what}`, {
    wayOut: "Use lower-case letters, digits and hyphens, beginning with a letter or digit, 40 characters at most.",
  });
}
