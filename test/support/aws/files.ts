import { parseS3Path } from "../../../composition/s3-path.ts";
import { readRows } from "../../../shared/adapters/s3/reader.ts";
import { collect } from "../../../shared/testing/collect.ts";
import type { Clients } from "../emulator/services.ts";

/** The rows that a files sink has published, without line ends. None before there is an output. */
export async function readFiles({ s3 }: Clients, output: string): Promise<string[]> {
  const rows = await collect(readRows({ client: s3, ...parseS3Path(output) }));
  return rows.map((row) => row.trimEnd());
}
