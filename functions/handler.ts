import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { Tracer } from "@aws-lambda-powertools/tracer";
import type { Context } from "aws-lambda";
import { describeError } from "../shared/errors.ts";
import type { Deployment } from "./deployment.ts";
import { metricUnits, type Observe } from "./metrics.ts";

/** One invocation, besides its input. */
export interface Call {
  readonly context: Pick<Context, "getRemainingTimeInMillis">;
  /** Adds to a metric. */
  readonly observe: Observe;
}

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
  const logger = new Logger({ serviceName: pipeline });
  const metrics = new Metrics({ namespace: "epochflow", serviceName: pipeline });
  const tracer = new Tracer({ serviceName: pipeline });
  const observe: Observe = (metric, value) => metrics.addMetric(metric, metricUnits[metric], value);
  return async (input, context) => {
    logger.addContext(context);
    logger.appendKeys({ pipeline, function: name, ...placeOf(input) });
    const startedAt = performance.now();
    try {
      const answer = await traced(tracer, name, () => work(input, { context, observe }));
      logger.info(name, { answer: answer as object, tookMs: Math.round(performance.now() - startedAt) });
      return answer;
    } catch (error) {
      logger.error(`${name} failed`, {
        failure: describeError(error),
        tookMs: Math.round(performance.now() - startedAt),
      });
      throw error;
    } finally {
      if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
      logger.resetKeys();
    }
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
