import { csv, files, parameter, pipeline, text } from "../../shared/index.ts";

/** Numbers, in folders by their last bit, merged soon, and what was merged removed at once. */
export default pipeline("compacting")
  .from(files.source({ path: parameter("input"), value: text() }))
  .map((line) => ({ bit: Number(line) % 2, number: Number(line) }))
  .to(
    files.sink({
      path: parameter("output"),
      partitionBy: "bit={bit}",
      format: csv({ columns: ["bit", "number"] }),
      compression: "gzip",
      compact: { bytes: 4000, age: 1, grace: 0 },
    }),
    { id: "numbers" },
  );
