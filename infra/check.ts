import type { IKey } from "aws-cdk-lib/aws-kms";
import { UsageError } from "../shared/errors.ts";
import { checkOptions } from "../shared/options.ts";
import { knownProps, type StreamPipelineProps } from "./props.ts";

/**
 * What can be told of props before the pipeline is known, in projects that no compiler checks, too.
 *
 * @throws UsageError `unknown-option`, `invalid-option`
 */
export function checkProps(props: StreamPipelineProps): void {
  checkOptions("StreamPipeline", props, knownProps);
  const { heartbeat, triggerTopics, encryptionKey } = props;
  if (heartbeat !== undefined && heartbeat !== "off" && typeof heartbeat?.toMinutes !== "function")
    throw new UsageError("invalid-option", `heartbeat is ${shown(heartbeat)}, neither a Duration nor "off"`);
  if (triggerTopics !== undefined && !isTexts(triggerTopics))
    throw new UsageError("invalid-option", `triggerTopics is ${shown(triggerTopics)}, not a list of topics' names`);
  if (encryptionKey && isAlias(encryptionKey))
    throw new UsageError("invalid-option", "encryptionKey is an alias, but roles are given rights on keys alone", {
      wayOut: "Give the key that the alias stands for: Key.fromLookup(stack, id, { aliasName }), or Key.fromKeyArn.",
    });
}

const isTexts = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === "string" && each);

const isAlias = (key: IKey) => "aliasName" in key;

const shown = (value: unknown) => JSON.stringify(value) ?? String(value);
