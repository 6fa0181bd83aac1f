import {
  count,
  customSink,
  customSource,
  environment,
  parameter,
  pipeline,
  seconds,
  sum,
  text,
  tumbling,
} from "epochflow";

/** A pipeline whose source and sink are its own, and are loaded only where they run. */
const numbers = customSource({
  name: "numbers",
  options: { partitions: 3, count: parameter("count", "1000") },
  create: async ({ partitions, count }) =>
    new (await import("./numbers-source.ts")).NumbersSource(partitions, Number(count)),
  value: text(),
});

const table = customSink({
  name: "table",
  options: { file: parameter("table"), password: environment("TABLE_PASSWORD") },
  permanent: ["file"],
  create: async ({ file, password }) => {
    if ((await password.reveal()) !== "open sesame") throw new Error("the password is wrong");
    return new (await import("./table-sink.ts")).TableSink(file);
  },
});

/** For `epochflow verify`: values of records. */
export const sample = ["1", "2", "3", "5", "8", "13"];

export default pipeline("sums")
  .from(numbers)
  .map((number, { key }) => ({ number: Number(number), partition: key! }))
  .keyBy(({ number }) => number % 7)
  .window(tumbling(seconds(100)))
  .aggregate({ count: count(), sum: sum(({ number }) => number) })
  .to(table, { id: "sums" });
