/**
 * Requests and bytes per hour and status code, from a web server's access log in the combined log format:
 *
 *     npx epochflow run examples/access-log.ts --set input=access.log --set output=out/access-log
 *     npx epochflow read out/access-log
 *
 * `input` is a file, or a folder whose files are all read. Lines are written when requests end, so they may be a minute out of
 * order. Without a log of your own: `node examples/generate-access-log.ts --out out/access.log`.
 */
import { combinedLog, count, files, hours, parameter, pipeline, seconds, sum, tumbling } from "epochflow";

export default pipeline("access-log")
  .from(
    files.source({
      path: parameter("input", "out/access.log"),
      value: combinedLog(),
      timestamp: (request) => request.time,
      outOfOrder: seconds(60),
    }),
  )
  .keyBy((request) => request.status)
  .window(tumbling(hours(1)))
  .aggregate({ count: count(), bytes: sum((request) => request.bytes) })
  .map(({ windowStart, key, count, bytes }) => ({ windowStart, key, count, bytes }))
  .to(files.sink({ path: parameter("output", "out/access-log") }), { id: "status-by-hour" });
