import { Duration } from "aws-cdk-lib";
import { GraphWidget, type GraphWidgetProps, type IMetric, type IWidget } from "aws-cdk-lib/aws-cloudwatch";

/** CloudWatch's grid. */
export const columns = 24;
const rowHeight = 6;
/** At least: a longer time is shown in longer periods. */
export const period = Duration.minutes(1);

export type Graph = Omit<GraphWidgetProps, "left" | "width" | "height"> & {
  readonly left: IMetric[];
  readonly unit: string;
};

/** Graphs side by side, which share the width. */
export function row(graphs: readonly Graph[]): IWidget[] {
  return graphs.map(({ unit, ...graph }) => {
    const axis = { label: unit, min: 0, showUnits: false };
    return new GraphWidget({ ...graph, leftYAxis: axis, width: columns / graphs.length, height: rowHeight });
  });
}
