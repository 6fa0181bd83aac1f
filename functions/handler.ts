import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { Tracer } from "@aws-lambda-powertools/tracer";
import type { Context } from "aws-lambda";
import type { Engine } from "../shared/epoch/engine.ts";
import { describeError } from "../shared/errors.ts";
import type { Deployment } from "./deployment.ts";
import { metricUnits, type Observe } from "./metrics.ts";

/** One invocation, besides its input. */
export interface Call {
  readonly context: Pick<Context, "getRemainingTimeInMillis" | "memoryLimitInMB">;
  /** Adds to a metric. */
  readonly observe: Observe;
  /** Does a part of it that is another function's work, and tells of it as that function would. */
  part<Input extends object, Answer>(
    name: string,
    input: Input,
    work: (input: Input, call: Call) => Promise<Answer>,
  ): Promise<Answer>;
}

/** What a function of the state machine does, whichever handler it is called by. */
export type Step<Input, Answer> = (engine: Engine, input: Input, call: Call) => Promise<Answer>;

export type Handler<Input, Answer> = (input: Input, context: Context) => Promise<Answer>;

/** What every line of the log has, as far as the input names it. */
const places = ["epoch", "attempt", "stage", "task", "sink", "execution"] as const;

/**
 * A Lambda handler: the work, with a line of log for each invocation, its metrics (EMF) and a segment of the trace. An error is logged as
 * `describeError` has it, without record values, and thrown: the state machine tries again.
 */
export function handlerOf<Input extends object, Answer>(
  name: string,
  deployment: Deployment,
  work: (input: Input, call: Call) => Promise<Answer>,
): Handler<Input, Answer> {
  const { pipeline } = deployment;
  const logger = new Logger({ serviceName: pipeline, persistentKeys: { pipeline } });
  const metrics = new Metrics({ namespace: "epochflow", serviceName: pipeline });
  const tracer = new Tracer({ serviceName: pipeline });
  const observe: Observe = (metric, value) => metrics.addMetric(metric, metricUnits[metric], value);
  return async (input, context) => {
    logger.addContext(context);
    const part: Call["part"] = async (what, given, does) => {
      const startedAt = performance.now();
      const line = () => ({ function: what, ...placeOf(given), tookMs: Math.round(performance.now() - startedAt) });
      try {
        const answer = await traced(tracer, what, () => does(given, { context, observe, part }));
        logger.info(what, { ...line(), answer: answer as object });
        return answer;
      } catch (error) {
        logger.error(`${what} failed`, { ...line(), failure: describeError(error) });
        throw error;
      } finally {
        if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
      }
    };
    return await part(name, input, work);
  };
}

function placeOf(input: object): object {
  const given = input as Record<string, unknown>;
  return Object.fromEntries(places.flatMap((place) => (given[place] === undefined ? [] : [[place, given[place]]])));
}

async function traced<T>(tracer: Tracer, name: string, work: () => Promise<T>): Promise<T> {
  if (!tracer.isTracingEnabled()) return await work();
  const result: unknown = await tracer.provider.captureAsyncFunc(`## ${name}`, async (segment) => {
    try {
      return await work();
    } catch (error) {
      segment?.addError(error as Error);
      throw error;
    } finally {
      segment?.close();
    }
  });
  return result as T;
}
