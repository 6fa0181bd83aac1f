import { promisify } from "node:util";
import { deflateRawSync, inflateRaw } from "node:zlib";

const inflate = promisify(inflateRaw);

/**
 * What plans, decisions and acks have in common, mostly the names of their fields: a decision of some partitions is half as long for it, and so is the row that
 * holds it, which is written three times and costs by the KB. It must never change, since rows are read by it; another one needs another field in `rows.ts`.
 */
export const dictionary = Buffer.from(
  [
    '"prepared":[{"stage":1,"sink":"","handle":{"marker":{"topic":"","id":null},"lanes":[{"lane":0,"range":{"object":".staged","start":0,"bytes":0,"digest":"","topics":[["',
    '"error":{"kind":"infrastructure","code":"","message":"","wayOut":"","place":{"pipeline":"","epoch":0,"attempt":1,"partition":"","offset":0}},"shrink":false',
    '{"bytes":0,"partitions":[{"id":"/0","identity":{"topicId":"","leaderEpoch":0},"from":0,"to":0,"cuts":[],"isRecord":true,"idle":true,"maxEventTime":null,"activeAt":',
    '"},"from":0,"to":0,"cuts":[],"seen":{"end":0,"high":0},"idle":false,"maxEventTime":17,"activeAt":17},{"id":"/1","identity":{"topicId":"',
    '","leaderEpoch":0},"from":0,"to":0,"cuts":[],"idle":false,"maxEventTime":17,"activeAt":17},{"id":"/2","identity":{',
    '}],"forgotten":[],"watermark":null,"advanceTo":null,"processingTime":17}',
    '{"kind":"process","checkpoint":{"stages":{"1":[{"from":0,"to":128,"objects":["/000000000001-1-1-0-.snapshot","/000000000002-1-1-0-.snapshot"]},{"from":1,"to":2,"objects":["',
    '.snapshot"]}]}},"partitions":[{"id":"/0","identity":{"topicId":"","leaderEpoch":0},"position":0,"maxEventTime":17,"activeAt":17},{"id":"/1","identity":{"topicId":"',
    '","leaderEpoch":0},"position":0,"maxEventTime":null,"activeAt":17}],"watermark":17,"nextFire":null,"openUntil":null,"nextFire":17,"openUntil":17,',
    '"counts":{"records":0,"bytes":0,"skipped":0,"deadLettered":0,"late":0,"rows":{"":0}},"rows":{}},"token":"","unitCount":1,"sinks":[""],"unitCount":0,"sinks":[],',
    '"previous":{"/lane-0":1},"decidedAt":17}',
  ].join(""),
);

export const pack = (text: string): Buffer => deflateRawSync(text, { dictionary, level: 9 });

/** @param bytes how long the text is: nothing is inflated beyond that */
export async function unpack(packed: Uint8Array, bytes: number): Promise<string> {
  return (await inflate(packed, { dictionary, maxOutputLength: Math.max(1, bytes) })).toString();
}
