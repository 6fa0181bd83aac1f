import { createServer } from "node:net";

/**
 * Below the range from which the system takes the ports of outgoing connections. There a client that connects again and again to a broker which is down could
 * be given the broker's own port.
 */
const lowest = 20_000;
const highest = 32_000;

/** Ports of 127.0.0.1 that nobody listens on, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
