/**
 * A process that commits an epoch of a lane, and at some call dies, or falls asleep until somebody wakes it:
 *
 *     node committer.ts BOOTSTRAP PLACE EPOCH ORDINAL before|after SIGKILL|SIGSTOP
 *
 * Prints the names of its calls to Kafka, then "done" or what went wrong.
 */
import { createKafkaClient } from "../../../shared/adapters/kafka/kafkajs.ts";
import { type LanePlace, realLane } from "./real-lane.ts";

const [bootstrap, place, epoch, ordinal, when, signal] = process.argv.slice(2);
const client = createKafkaClient({ brokers: [bootstrap!], clientId: "committer" });
let count = 0;

const stop = () => {
  process.kill(process.pid, signal as NodeJS.Signals);
};

const committer = realLane(JSON.parse(place!) as LanePlace, client).process(async (call, run) => {
  if (call === "get" || call.startsWith("ledger.")) return await run();
  console.log(call);
  if (count++ !== Number(ordinal)) return await run();
  if (when === "before") stop();
  const result = await run();
  if (when === "after") stop();
  return result;
});

try {
  await committer.commit(Number(epoch));
  console.log("done");
} catch (error) {
  console.log(String(error));
}
await client.close();
