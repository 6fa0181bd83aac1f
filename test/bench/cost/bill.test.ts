import assert from "node:assert/strict";
import { test } from "node:test";
import { bill, fixedPartsOf, monthlyBill, smallestFlink, total } from "./bill.ts";
import { flinkPrices, monthlyPrices, usagePrices } from "./prices.ts";
import { scale, sum, usageOf } from "./usage.ts";

const near = (actual: number, expected: number) => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}`);

test("usage is priced by its units", () => {
  const dollars = bill(usageOf({ stateTransitions: 4_000, s3Puts: 1_000, writeUnits: 2e6, lambdaGbSeconds: 100 }));
  near(dollars.stateTransitions, 0.1);
  near(dollars.s3Puts, 0.005);
  near(dollars.writeUnits, 1.25);
  near(total(dollars), 0.1 + 0.005 + 1.25 + 0.00133334);
});

test("usages are added and scaled", () => {
  const usage = scale(sum([{ s3Gets: 2 }, { s3Gets: 3, traces: 1 }]), 10);
  assert.deepEqual(usage, usageOf({ s3Gets: 50, traces: 10 }));
});

test("the smallest Flink application is two KPUs, and 50 GB of storage", () => {
  near(smallestFlink.hourly, 0.22);
  near((smallestFlink.hourlyWithStorage - smallestFlink.hourly) * 730, 5);
});

test("a stack's fixed parts are counted by its template", () => {
  const queue = { "Fn::GetAtt": ["Queue", "Arn"] };
  const Resources = {
    Alarm: { Type: "AWS::CloudWatch::Alarm" },
    Dashboard: { Type: "AWS::CloudWatch::Dashboard" },
    Mapping: { Type: "AWS::Lambda::EventSourceMapping", Properties: { EventSourceArn: queue } },
    Topic: { Type: "AWS::Lambda::EventSourceMapping", Properties: { Topics: ["lines"] } },
    Gateway: { Type: "AWS::EC2::VPCEndpoint", Properties: { VpcEndpointType: "Gateway" } },
    Endpoint: { Type: "AWS::EC2::VPCEndpoint", Properties: { VpcEndpointType: "Interface" } },
  };
  const fixed = fixedPartsOf({ Resources }, 10);
  assert.deepEqual(fixed, {
    ...{ metrics: 10, alarms: 1, dashboards: 1, queueRequests: 657_000, secrets: 0, keys: 0, endpoints: 1 },
  });
  near(total(monthlyBill(fixed)), 3 + 0.1 + 3 + 0.2628 + 7.3);
});

test("each price has a positive amount and the address of AWS's page", () => {
  for (const price of Object.values({ ...usagePrices, ...monthlyPrices, ...flinkPrices })) {
    assert.ok(price.usd > 0 && price.per >= 1, price.unit);
    assert.match(price.source, /^https:\/\/aws\.amazon\.com\//);
  }
});
