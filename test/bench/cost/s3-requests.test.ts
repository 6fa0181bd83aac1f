import assert from "node:assert/strict";
import { test } from "node:test";
import { requestClass } from "./s3-requests.ts";

test("writes, each request of an upload, and lists are dear; reads are not; deletes are free", () => {
  const cases: [method: string, url: string, expected: string][] = [
    ["PUT", "/bucket/key?x-id=PutObject", "put"],
    ["POST", "/bucket/key?uploads", "put"],
    ["PUT", "/bucket/key?partNumber=1&uploadId=u", "put"],
    ["POST", "/bucket/key?uploadId=u", "put"],
    ["GET", "/bucket/?list-type=2&prefix=a%2Fb", "put"],
    ["GET", "/bucket?uploads=&prefix=a", "put"],
    ["GET", "/bucket/key?uploadId=u", "put"],
    ["GET", "/bucket/key?x-id=GetObject", "get"],
    ["HEAD", "/bucket/key", "get"],
    ["GET", "/bucket/?lifecycle", "get"],
    ["DELETE", "/bucket/key", "free"],
    ["DELETE", "/bucket/key?uploadId=u", "free"],
    ["POST", "/bucket/?delete=", "free"],
  ];
  for (const [method, url, expected] of cases) assert.equal(requestClass(method, url), expected, `${method} ${url}`);
});
