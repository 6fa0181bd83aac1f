import type { FunctionName } from "../../../infra/bundle.ts";
import type { AwsRequest } from "../emulator/aws-answers.ts";
import type { Template } from "./deployment.ts";
import { type Need, needsOf } from "./needs.ts";
import type { PipelineParts } from "./pipeline-stack.ts";
import { allows, type Right, rightsOf } from "./rights.ts";

/** Services that functions themselves ask; what else a role may is for Lambda. */
const asked = /^(dynamodb|s3|states|secretsmanager):/;

/** Rights for what hardly happens. */
const rare: readonly RegExp[] = [
  /^s3:AbortMultipartUpload /, // of one that failed half-way
  /^dynamodb:BatchWriteItem /, // deletes what attempts have acknowledged that came to nothing, if one has
  /^s3:DeleteObject of .*\/output\/\*$/, // manifests once an index holds what hundreds of them say, small files that were merged
];

/** Whether the roles of deployed functions have the rights that their requests need: the emulator asks for none. */
export class RightsCheck {
  readonly #template: Template;
  readonly #parts: PipelineParts;
  readonly #needs = new Map<FunctionName, Map<string, Need>>();

  constructor({ template, parts }: { readonly template: Template; readonly parts: PipelineParts }) {
    this.#template = template;
    this.#parts = parts;
  }

  record(name: FunctionName, request: AwsRequest): void {
    const needs = this.#needs.get(name) ?? new Map<string, Need>();
    this.#needs.set(name, needs);
    for (const need of needsOf(request)) needs.set(JSON.stringify(need), need);
  }

  /** What AWS would have refused. */
  missing(): string[] {
    const refused = [...this.#needs].flatMap(([name, needs]) => {
      const rights = this.#rightsOf(name);
      const isAllowed = (need: Need) => rights.some((right) => allows(right, need));
      return [...needs.values()].filter((need) => !isAllowed(need)).map((need) => `${name} may not ${textOf(need)}`);
    });
    return [...new Set(refused)];
  }

  /** Rights that no function has used, and that are not for what is rare. */
  unused(): string[] {
    const needs = [...this.#needs.values()].flatMap((some) => [...some.values()]);
    const unused = [...this.#needs.keys()]
      .flatMap((name) => this.#rightsOf(name))
      .filter((right) => asked.test(right.action) && !rare.some((one) => one.test(textOf(right))))
      .filter((right) => !needs.some((need) => allows(right, need)));
    return [...new Set(unused.map(textOf))];
  }

  #rightsOf(name: FunctionName): Right[] {
    return rightsOf(this.#template, name, this.#parts);
  }
}

const textOf = ({ action, resource }: Pick<Need, "action" | "resource">): string => `${action} of ${resource}`;
