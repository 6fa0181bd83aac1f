/** `npm run simulate -- [--running | --guarantee at-least-once] [--seeds N | --minutes M] [--seed S]`: the protocol's own campaign. `--seed S` alone replays S, shrunk to the faults that it takes. */
import { parseArgs } from "node:util";
import type { WeakerGuarantee } from "../../shared/epoch/epoch.ts";
import { runCampaign } from "../../shared/testing/simulation/campaign.ts";
import { describeCampaign, describeFailure } from "../../shared/testing/simulation/report.ts";
import { shrink } from "../../shared/testing/simulation/shrink.ts";
import { subject as readings, runningSubject, weakerSubject } from "./subject.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string" },
    seed: { type: "string" },
    minutes: { type: "string" },
    running: { type: "boolean" },
    guarantee: { type: "string" },
  },
});
const weaker = values.guarantee as WeakerGuarantee | undefined;
const subject = weaker ? weakerSubject(weaker) : values.running ? runningSubject : readings;
Error.stackTraceLimit = 4;
const began = performance.now();
const seconds = () => (performance.now() - began) / 1000;
const most = values.minutes ? Number.POSITIVE_INFINITY : Number(values.seeds ?? (values.seed ? 1 : 1000));
const until = values.minutes ? 60 * Number(values.minutes) : Number.POSITIVE_INFINITY;
const campaign = await runCampaign(subject, {
  firstSeed: Number(values.seed ?? 1),
  goesOn: (runs) => {
    if (runs % 1000 === 0) console.error(`${runs} seeds, ${(runs / seconds()).toFixed(1)} a second`);
    return runs < most && seconds() < until;
  },
});
console.log(describeCampaign(campaign, seconds()));
if (campaign.failing) {
  console.log(describeFailure(await shrink(subject, campaign.failing), campaign.failing));
  process.exitCode = 1;
}
console.log(campaign.failing ? `seed ${campaign.failing.seed}: violation` : "no violation");
