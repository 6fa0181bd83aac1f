/**
 * Writes to standard output, waiting where its reader is slower than we are. Never resolves if that fails: `main` listens for the stream's error,
 * and ends the process.
 */
export function write(data: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(data, (error) => {
      if (error == null) resolve();
    });
  });
}

/** Writes values as JSON, each on a line of its own. */
export function writeJson(...values: readonly unknown[]): Promise<void> {
  return write(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
}
