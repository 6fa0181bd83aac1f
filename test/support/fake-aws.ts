import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** An answer of a service, in the form that it has for its errors and answers. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Given the body of a request; what `undefined` answers never comes. */
export type Service = (body: string) => Answer | undefined;

/** Answers of services by the names by which requests are signed: `cloudformation`, `dynamodb`, `lambda`, `s3`, `states`. */
export type Services = Readonly<Record<string, Service>>;

/**
 * Something that answers as AWS does where a test says how, until the test's end; for what no emulator does, such as to refuse.
 *
 * @returns environment variables that lead a command there
 */
export async function fakeAws(test: TestContext, services: Services): Promise<Record<string, string>> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const [, service = ""] = /Credential=[^/]+\/\d+\/[\w-]+\/(\w+)\//.exec(request.headers.authorization ?? "") ?? [];
    const answer = services[service]?.(body);
    if (answer) response.writeHead(answer.status, answer.headers).end(request.method === "HEAD" ? "" : answer.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  test.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { ...anybody, AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Nothing of the machine's own settings. */
export const nobody = {
  HOME: "/nowhere",
  AWS_CONFIG_FILE: "/nowhere/config",
  AWS_SHARED_CREDENTIALS_FILE: "/nowhere/credentials",
  AWS_EC2_METADATA_DISABLED: "true",
  AWS_PROFILE: "",
  AWS_REGION: "",
  AWS_ACCESS_KEY_ID: "",
  AWS_SECRET_ACCESS_KEY: "",
  AWS_ENDPOINT_URL: "",
};
const anybody = {
  ...nobody,
  AWS_REGION: "eu-west-1",
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
};

/** An error of a service of AWS's JSON protocols, one of which has the name in a header. */
export function jsonError(name: string, message: string, status = 400): Answer {
  return {
    status,
    body: JSON.stringify({ __type: `com.amazonaws#${name}`, message }),
    headers: { "x-amzn-errortype": name },
  };
}

/** An error of CloudFormation. */
export function queryError(code: string, message: string, status = 400): Answer {
  const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error>`;
  return { status, body: `<ErrorResponse>${error}<RequestId>1</RequestId></ErrorResponse>` };
}

export interface FakeStack {
  readonly name: string;
  readonly status?: string;
  /** Values of outputs by their descriptions. */
  readonly outputs?: Readonly<Record<string, string>>;
}

/** What `DescribeStacks` answers, by the name that it asks for, or for all. */
export function cloudFormation(stacks: readonly FakeStack[]): Service {
  return (body) => {
    const asked = new URLSearchParams(body).get("StackName");
    const found = stacks.filter(({ name }) => asked === null || asked === name);
    if (found.length === 0) return queryError("ValidationError", `Stack with id ${asked} does not exist`);
    const members = found.map(memberOf).join("");
    return {
      status: 200,
      body: `<DescribeStacksResponse><DescribeStacksResult><Stacks>${members}</Stacks></DescribeStacksResult></DescribeStacksResponse>`,
    };
  };
}

function memberOf({ name, status = "CREATE_COMPLETE", outputs = {} }: FakeStack): string {
  const members = Object.entries(outputs).map(
    ([description, value], index) =>
      `<member><OutputKey>Output${index}</OutputKey><OutputValue>${value.replaceAll('"', "&quot;")}</OutputValue><Description>${description}</Description></member>`,
  );
  return `<member><StackName>${name}</StackName><StackStatus>${status}</StackStatus><CreationTime>2026-01-01T00:00:00Z</CreationTime><Outputs>${members.join("")}</Outputs></member>`;
}
