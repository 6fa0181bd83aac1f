import assert from "node:assert/strict";

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

const label = '([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\\\\n]|\\\\["\\\\n])*)"';
const sampleLine = RegExp(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{((?:${label},?)*)\\})? (\\S+)$`);

/**
 * Metrics by name, from Prometheus's text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats), read strictly: what `promtool check metrics`
 * would find fault with fails. Of Node's own metrics not all hold to its rules of naming.
 */
export function parseMetrics(text: string): Map<string, Family> {
  assert.ok(text.endsWith("\n"), "the last line ends");
  const families = new Map<string, { name: string; help: string; type: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let current: { name: string; help: string; type: string; samples: Sample[] } | undefined;
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const [, comment, about = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (comment === "HELP") {
      assert.ok(!families.has(about), `${about} comes once`);
      current = { name: about, help: rest, type: "", samples: [] };
      families.set(about, current);
    } else if (comment === "TYPE") {
      assert.ok(
        current?.name === about && current.samples.length === 0,
        `the type of ${about} comes before its samples`,
      );
      current.type = rest;
    } else {
      const sample = parseSample(line);
      const suffix = sample.name.slice(current?.name.length);
      const suffixes = current?.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
      assert.ok(current && sample.name.startsWith(current.name) && suffixes.includes(suffix), `${line} is in place`);
      const identity = line.slice(0, line.lastIndexOf(" "));
      assert.ok(!seen.has(identity), `${identity} comes once`);
      seen.add(identity);
      current.samples.push(sample);
    }
  }
  for (const family of families.values()) lint(family);
  return families;
}

function parseSample(line: string): Sample {
  const match = sampleLine.exec(line);
  assert.ok(match, `a sample: ${line}`);
  const pairs = [...(match[2] ?? "").matchAll(RegExp(label, "g"))];
  const plain = (text: string) => text.replaceAll(/\\(.)/g, (_, one) => (one === "n" ? "\n" : one));
  const labels = Object.fromEntries(pairs.map(([, name, value]) => [name!, plain(value!)]));
  assert.equal(Object.keys(labels).length, pairs.length, `labels once: ${line}`);
  const number = match.at(-1)!.replace(/Inf$/, "Infinity");
  const value = Number(number);
  // As Go's ParseFloat reads it.
  assert.ok(/^nan$/i.test(number) || !Number.isNaN(value), `a number: ${line}`);
  return { name: match[1]!, labels, value };
}

function lint({ name, help, type, samples }: Family): void {
  assert.notEqual(help, "", `${name} has a help text`);
  assert.match(type, /^(counter|gauge|histogram|summary)$/, `${name} has a type`);
  if (type === "histogram") lintBuckets(name, samples);
  if (!name.startsWith("epochflow_")) return;
  assert.equal(name.endsWith("_total"), type === "counter", `${name} is a ${type}`);
  assert.doesNotMatch(name, /_(count|sum|bucket|info|milliseconds|ms|kilobytes|minutes)(_|$)/);
}

/** Buckets of a series grow, and the last is its count. */
function lintBuckets(name: string, samples: readonly Sample[]): void {
  const seriesOf = ({ labels: { le: _, ...labels } }: Sample) => JSON.stringify(labels);
  for (const series of Map.groupBy(samples, seriesOf).values()) {
    const buckets = series.filter((one) => one.name === `${name}_bucket`);
    assert.equal(buckets.at(-1)?.labels.le, "+Inf");
    assert.ok(buckets.every(({ value }, index) => index === 0 || value >= buckets[index - 1]!.value));
    assert.equal(buckets.at(-1)?.value, series.find((one) => one.name === `${name}_count`)?.value);
  }
}

/** The value of the sample that has these labels, among others; of a histogram its count. */
export function sampleOf(families: ReadonlyMap<string, Family>, name: string, labels: Record<string, string> = {}) {
  const family = families.get(name);
  const sampleName = family?.type === "histogram" ? `${name}_count` : name;
  const found = family?.samples.filter(
    (one) =>
      one.name === sampleName && Object.entries(labels).every(([labelName, value]) => one.labels[labelName] === value),
  );
  assert.equal(found?.length, 1, `${name} ${JSON.stringify(labels)} is there once`);
  return found[0]!.value;
}
