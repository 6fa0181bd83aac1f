import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";

const names = ["chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"];

/** The program of a Chromium on this machine: nothing is downloaded. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync);
  return process.env.EPOCHFLOW_CHROMIUM ?? found;
}

/** Root, as in a container, has no sandbox to be in; the pages are ours. */
export const startChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: findChromium()!, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

export interface Opened {
  readonly page: Page;
  /** What was wrong: errors and warnings on the console, exceptions, requests to elsewhere and failed ones, dialogs. */
  readonly complaints: readonly string[];
}

interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
}

/** Opens an address, and listens for all that a page should not do. */
export async function open(
  browser: Browser,
  url: string,
  { width = 1280, height = 900, ...look }: Look = {},
): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width, height }, ...look });
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`exception: ${error.message}`));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin)
      complaints.push(`request to elsewhere: ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`);
  });
  await page.goto(url);
  return { page, complaints };
}
