import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { Stack, Stage } from "aws-cdk-lib";
import { Architecture } from "aws-cdk-lib/aws-lambda";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import { Asset } from "aws-cdk-lib/aws-s3-assets";
import { UsageError } from "../shared/errors.ts";

/** `e_machine` of an ELF file, and what npm calls it. */
const machines = {
  [Architecture.X86_64.name]: { code: 0x3e, cpu: "x64" },
  [Architecture.ARM_64.name]: { code: 0xb7, cpu: "arm64" },
};

/**
 * A bundle that was made on a laptop may hold what runs on that laptop alone.
 *
 * @throws UsageError `native-module` for one that does not run on Linux of the function's architecture
 */
export function checkNativeModules(made: NodejsFunction, architecture: Architecture): void {
  const code = made.node.tryFindChild("Code");
  // What is not deployed now is not bundled either.
  if (!(code instanceof Asset) || !Stack.of(made).bundlingRequired) return;
  const folder = join(Stage.of(made)!.assetOutdir, code.assetPath);
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    if (file.endsWith(".node")) checkModule(join(folder, file), file, architecture);
}

function checkModule(path: string, name: string, { name: architecture }: Architecture): void {
  const { code, cpu } = machines[architecture]!;
  if (elfMachine(path) === code) return;
  throw new UsageError(
    "native-module",
    `The pipeline uses the native module ${name}, which does not run on Linux on ${architecture}`,
    {
      wayOut: `Synthesize where the project's packages are those for Linux on ${cpu} (npm ci --os=linux --cpu=${cpu}), or choose another \`architecture\`.`,
    },
  );
}

/** Undefined for what is no ELF file of little endian, as macOS and Windows have. */
function elfMachine(path: string): number | undefined {
  const header = Buffer.alloc(20);
  const file = openSync(path, "r");
  try {
    readSync(file, header);
  } finally {
    closeSync(file);
  }
  return header.subarray(0, 4).toString("latin1") === "\x7fELF" && header[5] === 1
    ? header.readUInt16LE(18)
    : undefined;
}
