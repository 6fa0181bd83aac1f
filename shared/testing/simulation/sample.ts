import { UsageError } from "../../errors.ts";
import type { Decoder, Topology } from "../../pipeline/topology.ts";
import { Chance } from "./chance.ts";
import type { Values } from "./people.ts";

/** Values of records that a module exports as `sample`: texts, bytes, or what becomes JSON. */
export type Sample = readonly (string | Uint8Array | object)[];

/**
 * Input for a pipeline: from its sample, or made up to fit its decoder.
 *
 * @throws UsageError `bad-sample` if the sample is none; `no-sample` if nothing that can be made up fits
 */
export function valuesFor(topology: Topology, sample: unknown): Values {
  const given = sample === undefined ? madeUp(topology) : bytesOf(topology, sample);
  return (partition, index) => given[(index + Number(partition.slice(1)) * 7) % given.length]!;
}

const wayOut =
  "Export some values of records from the pipeline's module: export const sample = [...], texts, bytes or objects that become JSON.";

function bytesOf(topology: Topology, sample: unknown): readonly (string | Uint8Array)[] {
  const isSample =
    Array.isArray(sample) &&
    sample.length > 0 &&
    sample.every((one) => typeof one === "string" || (typeof one === "object" && one !== null));
  if (!isSample)
    throw new UsageError("bad-sample", `The export "sample" of pipeline ${topology.name} is no list of records`, {
      wayOut,
      place: { pipeline: topology.name },
    });
  return sample.map((one) => (typeof one === "string" || one instanceof Uint8Array ? one : JSON.stringify(one)));
}

/** Seconds between two made-up records. */
const everySeconds = 7;
const records = 200;

function madeUp(topology: Topology): string[] {
  const node = topology.nodes[0];
  const decoder = node?.kind === "source" ? node.source.value : undefined;
  const chance = new Chance(1);
  const texts = Array.from({ length: records }, (_, index) => candidates(chance, index)).flatMap(
    (all) => all.find((text) => decodes(decoder, text)) ?? [],
  );
  if (texts.length > 0) return texts;
  throw new UsageError("no-sample", `Nothing that can be made up fits what pipeline ${topology.name} reads`, {
    wayOut,
    place: { pipeline: topology.name },
  });
}

/** The n-th record in each of the shapes that are known, the most particular first. */
function candidates(chance: Chance, index: number): string[] {
  const word = (place: number) => chance.pick(`word ${index} ${place}`, ["apple", "pear", "plum", "quince", "fig"]);
  const time = new Date(1_700_000_000_000 + 1000 * (everySeconds * index - chance.below(`late ${index}`, 20)));
  const [day, month, year] = [time.getUTCDate(), time.toUTCString().slice(8, 11), time.getUTCFullYear()];
  const clock = time.toISOString().slice(11, 19);
  const status = chance.pick(`status ${index}`, [200, 200, 304, 404, 500]);
  const bytes = chance.below(`bytes ${index}`, 5000);
  return [
    `192.0.2.${index % 250} - - [${String(day).padStart(2, "0")}/${month}/${year}:${clock} +0000] "GET /${word(0)} HTTP/1.1" ${status} ${bytes} "-" "made up"`,
    JSON.stringify({ id: index, time: time.toISOString(), key: word(0), value: bytes }),
    `${time.getTime()}\t${word(0)} ${word(1)} ${word(2)}`,
  ];
}

function decodes(decoder: Decoder<unknown> | undefined, text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    decoder?.decode(bytes, 0, bytes.length);
    return true;
  } catch {
    return false;
  }
}
