/** Rows of the same columns as text, columns aligned to the right. */
export function formatTable(rows: readonly Readonly<Record<string, string>>[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) => cells.map((cell, index) => cell.padStart(widths[index]!)).join("   ");
  const rule = widths.map((width) => "─".repeat(width));
  return [columns, rule, ...rows.map((row) => columns.map((column) => row[column]!))].map(line).join("\n");
}
