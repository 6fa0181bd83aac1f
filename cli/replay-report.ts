import { displayPath } from "../local/paths.ts";
import { describePlace, type Places } from "../local/replay/places.ts";
import type { Outlook, Replayed } from "../local/replay/replay.ts";
import { formatCount, formatCounted, formatFields, formatTable } from "./format.ts";
import { style } from "./report.ts";

const mostGroups = 20;
const mostRefusals = 5;

/** What there is to replay: how many letters, of which errors, and what becomes of them. */
export function formatSelection(selection: Outlook, { from, to }: Places): string {
  const { letters, records, before, unfinished, again, mostReplays, missing, groups } = selection;
  if (letters === 0) return `No dead letters in ${describePlace(from)} are meant.`;
  const table = formatTable(
    [{ title: "letters", align: "right" }, { title: "operator" }, { title: "error" }],
    groups.slice(0, mostGroups).map((group) => [formatCount(group.letters), group.operator, group.error]),
  );
  const more = groups.length > mostGroups ? [`and ${formatCount(groups.length - mostGroups)} more errors`] : [];
  const fields: [string, string][] = [
    ["dead letters", `${formatCount(letters)} in ${describePlace(from)}`],
    ["to put back", `${formatCounted(records, "record")}, into ${describePlace(to)}`],
  ];
  if (before > 0) fields.push(["left out", `${formatCounted(before, "record")}, put back before`]);
  if (unfinished > 0) fields.push(["unfinished", "some of those: they are put back first"]);
  if (again > 0)
    fields.push([
      "in a loop",
      `${formatCounted(again, "record")} that failed again, after ${formatCounted(mostReplays, "replay")} at most`,
    ]);
  for (const [reason, count] of Object.entries(missing))
    fields.push(["not possible", `${formatCount(count)}: ${reason}`]);
  return [table, ...more, "", formatFields(fields)].join("\n");
}

export function formatReplayed(
  { records, recovered, refused }: Replayed,
  { to }: Places,
  states: readonly string[],
): string {
  const lines = [
    `${style(["green", "bold"], "Done.")} ${formatCounted(records, "record")} put back into ${describePlace(to)}.`,
  ];
  if (records > 0)
    lines.push("The pipeline takes them up when it runs: `epochflow run`, or at once if it follows its input.");
  if (recovered > 0) lines.push("What an earlier replay had begun came first.");
  for (const { record, reason } of refused.slice(0, mostRefusals))
    lines.push(`${style("yellow", "not put back:")} ${record.partition} offset ${record.offset}: ${reason}`);
  if (refused.length > mostRefusals) lines.push(`and ${formatCount(refused.length - mostRefusals)} more`);
  const kept = states.map(displayPath).join(", ");
  return [...lines, `What was put back is remembered in ${kept}: keep it while these dead letters are there.`].join(
    "\n",
  );
}
