/** The page, in a real Chromium: of ledgers whose figures are known, and of runs that go on. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Browser, Page } from "playwright-core";
import { open, startChromium } from "./support/chromium.ts";
import { type Started, startCli } from "./support/cli.ts";
import { temporaryFolder } from "./support/folder.ts";
import { aChromium, needing } from "./support/needing.ts";
import { poorContrasts } from "./support/page/contrast.ts";
import { brokenError, LedgerStory, type Story } from "./support/page/ledger-story.ts";
import { until } from "./support/until.ts";
import { assertEnded, Place, words } from "./support/words.ts";

const { after, before, describe, it } = await needing(aChromium);

let browser: Browser;
before(async () => {
  browser = await startChromium();
});
after(async () => await browser?.close());

/** The address that a command has said. */
async function addressOf(started: Started): Promise<string> {
  await started.said(/page: http:\S+/i);
  return /page: (http:\S+)/i.exec(started.stderr())![1]!;
}

/** `epochflow ui` of a state that is in a folder of its own. */
async function showing(state: string, look: (url: string) => Promise<void>): Promise<void> {
  const started = startCli(["ui", "--state", state, "--port", "0"]);
  try {
    await look(await addressOf(started));
  } finally {
    started.child.kill("SIGINT");
    assertEnded(await started.finished, 0);
  }
}

/** The same of a story. */
async function told(story: Story, write: (ledger: LedgerStory) => Promise<void>, look: (url: string) => Promise<void>) {
  using folder = temporaryFolder();
  const state = join(folder.path, "state");
  const ledger = new LedgerStory(state, story);
  await write(ledger);
  await ledger.ledger.close();
  await showing(state, look);
}

const textOf = async (page: Page, selector: string) =>
  (await page.locator(selector).innerText()).replaceAll(/\s+/g, " ");
const tile = (page: Page, title: string) => textOf(page, `.tile:has(h3:text-is("${title}"))`);

describe("the page of a ledger", { concurrency: 2 }, () => {
  const story: Story = { epochs: 30, until: Date.now() - 60_000, failing: [12] };

  it("says what the ledger says", async () => {
    await told(
      story,
      (ledger) => ledger.write(),
      async (url) => {
        const { page, complaints } = await open(browser, url);
        await page.locator("#epochs tbody tr").first().waitFor();
        assert.equal(await page.locator("h1").innerText(), "orders");
        assert.equal(await page.locator(".badge").innerText(), "no run");
        assert.match(await page.title(), /^orders · no run$/);
        assert.equal(await page.locator("#epochs tbody tr").count(), 30);
        const row = await textOf(page, '#epochs tr[data-epoch="12"]');
        assert.match(row, /^12 committed attempt 2 [\d,]+ \d+ 3 \d+ ms 1 min \d\d s ago$/);
        assert.match(await tile(page, "State"), /epoch 30, committed/);
        assert.equal(await page.locator("#partitions tbody tr").count(), 4);
        assert.match(
          await textOf(page, "#partitions tbody tr >> nth=0"),
          /^orders\/3 48,000 [\d,]+ [\d,]+ records .* behind$/,
        );
        assert.match(
          await page.locator(".graph").getAttribute("aria-label").then(String),
          /source-1 to window-1, [\d,]+; window-1 to revenue, [\d,]+/,
        );
        assert.ok((await page.locator("#timeline-view .bar.operate").count()) > 20);
        assert.ok((await page.locator("#timeline-view .bar.commit").count()) > 20);
        assert.match(
          String(await page.locator("#timeline-view").getAttribute("aria-label")),
          /^epochs \d+ to 30, from 20/,
        );
        assert.deepEqual(complaints, []);
      },
    );
  });

  it("shows an epoch's tasks, ranges and output to whoever asks, by mouse or by keys", async () => {
    await told(
      story,
      (ledger) => ledger.write(),
      async (url) => {
        const { page, complaints } = await open(browser, url);
        await page.click('#epochs button[data-epoch="30"]');
        await page.locator("#detail").waitFor();
        assert.equal(await page.locator("#detail-title").innerText(), "Epoch 30");
        const detail = await textOf(page, "#detail-view");
        assert.match(detail, /Tasks stage task began took records 0 0 \+\d+ ms/);
        assert.match(detail, /Ranges partition from to orders\/0 29,000 30,000/);
        assert.match(detail, /Output sink rows units revenue \d+ 1 committed/);
        await page.keyboard.press("Escape");
        await page.locator("#detail").waitFor({ state: "hidden" });
        assert.equal(await page.evaluate("document.activeElement?.getAttribute('data-epoch')"), "30");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.locator("#detail-title", { hasText: "Epoch 29" }).waitFor();
        await page.locator("#timeline-view").focus();
        const label = () => page.locator("#timeline-view").getAttribute("aria-label");
        const newest = await label();
        await page.keyboard.press("ArrowLeft");
        await until("the timeline has moved", async () => (await label()) !== newest);
        await page.keyboard.press("End");
        await page.keyboard.press("-");
        assert.match(String(await label()), /^epochs 1 to 30/);
        assert.deepEqual(complaints, []);
      },
    );
  });

  it("has room for thousands of epochs and 64 partitions, and gets older ones when asked", async () => {
    const partitions = Array.from({ length: 64 }, (_, index) => `orders/${index}`);
    const many: Story = { epochs: 700, until: Date.now() - 60_000, epochMs: 200, partitions, tasks: 10 };
    await told(
      many,
      (ledger) => ledger.write(),
      async (url) => {
        const { page, complaints } = await open(browser, url);
        await page.locator("#epochs tbody tr").first().waitFor();
        assert.equal(await page.locator("#partitions tbody tr").count(), 64);
        for (let rows = 40; rows < 440; rows += 100) {
          await page.click("text=Show older epochs");
          await page.locator("#epochs tbody tr").nth(rows).waitFor();
        }
        assert.match(await page.locator("#epochs-note").innerText(), /^599 loaded, from 102 on$/);
        await page.click("text=all");
        assert.ok((await page.locator("#timeline-view .bar").count()) < 20_000);
        assert.ok(await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"));
        assert.deepEqual(complaints, []);
      },
    );
  });

  it("says what is wrong, and what to do: a stop, a commit that fails, a pause", async () => {
    const stop = async (ledger: LedgerStory) => {
      await ledger.open();
      const attempt = await ledger.plan(1);
      await ledger.fail(1, attempt);
      await ledger.ledger.stop(brokenError, { attempt: { epoch: 1, attempt } });
    };
    await told({ epochs: 1, until: Date.now() }, stop, async (url) => {
      const { page } = await open(browser, url);
      await page.locator(".notice.bad").waitFor();
      const notice = await textOf(page, ".notice.bad");
      assert.match(
        notice,
        /Stopped\..*no price.*where operator map-1, partition orders\/3, offset 41207.*way out Mend the function/,
      );
      assert.match(await textOf(page, "#incidents"), /attempt 1 of epoch 1 failed/);
      assert.equal(await page.locator(".badge.bad").innerText(), "stopped");
    });
    const failing = async (ledger: LedgerStory) => {
      await ledger.open();
      await ledger.decide(1);
      const error = { kind: "infrastructure", code: "unreachable", message: "the broker is away" } as const;
      await ledger.ledger.failCommit(1, { sink: "revenue", error, now: Date.now() });
      await ledger.ledger.failCommit(1, { sink: "revenue", error, now: Date.now() });
    };
    await told({ epochs: 1, until: Date.now() }, failing, async (url) => {
      const { page } = await open(browser, url);
      await page.locator(".notice.bad").waitFor();
      assert.match(await textOf(page, ".notice.bad"), /epoch 1 .* sink revenue has failed 2 times.*the broker is away/);
      assert.ok((await page.locator("#timeline-view .bar.commit-failed").count()) > 0);
    });
    const pause = async (ledger: LedgerStory) => {
      await ledger.open();
      await ledger.ledger.setStatus("paused");
    };
    await told({ epochs: 1, until: Date.now() }, pause, async (url) => {
      const { page, complaints } = await open(browser, url, { width: 390 });
      await page.locator(".notice.warn").waitFor();
      assert.match(await textOf(page, ".notice.warn"), /Paused\. epochflow resume/);
      assert.match(await textOf(page, "#timeline-view"), /No epoch has been planned yet/);
      assert.deepEqual(complaints, []);
    });
  });

  it("takes names and errors for texts, whatever is in them", async () => {
    const evil = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
    const names: Story = {
      pipeline: `p${evil}`,
      epochs: 3,
      until: Date.now(),
      partitions: [`a${evil}`],
      sinks: [`s${evil}`],
    };
    const write = async (ledger: LedgerStory) => {
      await ledger.write();
      const error = {
        kind: "user",
        code: evil,
        message: `m${evil}`,
        wayOut: `\`${evil}\``,
        place: { operator: evil },
      } as const;
      await ledger.ledger.stop(error, { owner: 1 });
    };
    await told(names, write, async (url) => {
      const { page, complaints } = await open(browser, url);
      await page.locator(".notice.bad").waitFor();
      await page.click('#epochs button[data-epoch="3"]');
      await page.locator("#detail-view table").first().waitFor();
      assert.equal(await page.locator("h1").innerText(), `p${evil}`);
      assert.ok((await textOf(page, ".notice.bad")).includes(`m${evil}`));
      assert.equal(await page.locator("main img, main script, header img[src='x']").count(), 0);
      assert.deepEqual(complaints, []);
    });
  });

  it("is light or dark as the reader has it, with enough contrast", async () => {
    await told(
      story,
      (ledger) => ledger.write(),
      async (url) => {
        const grounds = [];
        for (const colorScheme of ["light", "dark"] as const) {
          const { page, complaints } = await open(browser, url, { colorScheme });
          await page.locator("#epochs tbody tr").first().waitFor();
          grounds.push(await page.evaluate("getComputedStyle(document.body).backgroundColor"));
          const poor = await page.evaluate(`(${poorContrasts})()`);
          assert.deepEqual(poor, [], colorScheme);
          assert.deepEqual(complaints, []);
          await page.close();
        }
        assert.notEqual(grounds[0], grounds[1]);
      },
    );
  });
});

describe("the page of a run", { concurrency: 2 }, () => {
  it("is live, shows the whole topology, and at the end how it ended", async () => {
    using place = new Place(words(0, 300));
    const started = place.start(["--follow", "--epoch-interval", "200ms", "--ui", "0"]);
    const { page, complaints } = await open(browser, await addressOf(started));
    await page.locator('#epochs tr[data-epoch="1"] .status.committed').waitFor();
    assert.equal(await page.locator(".badge").innerText(), "at work");
    assert.match(
      String(await page.locator(".graph").getAttribute("aria-label")),
      /map-1 to key-by-1; .*window-1 to counts/,
    );
    const rows = await page.locator("#epochs tbody tr").count();
    place.append(words(300, 600));
    await page.locator("#epochs tbody tr").nth(rows).waitFor();
    await page.locator(".badge.busy").waitFor();
    started.child.kill("SIGINT");
    await page.locator(".notice.info", { hasText: "The run is over: interrupted" }).waitFor();
    assertEnded(await started.finished, 130);
    assert.deepEqual(
      complaints.filter((one) => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|ERR_EMPTY/.test(one)),
      [],
    );
  });

  it("tells of attempts that were aborted, with their errors", async () => {
    using place = new Place(words(0, 50));
    place.program("[].nothing.at.all");
    const broken = place.start(["--follow", "--ui", "0"], 20);
    const { page } = await open(browser, await addressOf(broken));
    await page.locator("#incidents li", { hasText: "attempt 1 of epoch 1 aborted" }).waitFor();
    assert.match(await textOf(page, "#incidents"), /Cannot read properties of undefined/);
    await broken.finished;
  });

  it("can be looked at from another process meanwhile, which changes nothing", async () => {
    using place = new Place(words(0, 200));
    const started = place.start(["--follow", "--epoch-interval", "200ms"]);
    await place.decided(1);
    await showing(place.state, async (url) => {
      const { page } = await open(browser, url);
      await page.locator(".badge.busy").waitFor();
      place.append(words(200, 400));
      await page.locator("#epochs tr[data-epoch]").first().waitFor();
      started.child.kill("SIGINT");
      assertEnded(await started.finished, 130);
      await page.locator(".badge", { hasText: "no run" }).waitFor();
    });
    assertEnded(await place.run(), 0);
    assert.deepEqual(await place.rows(), place.expected());
  });
});

describe("the server of the page", { concurrency: true }, () => {
  interface Answer {
    readonly status: number;
    readonly headers: NodeJS.Dict<string | string[]>;
    readonly body: string;
  }
  async function get(url: string, { method = "GET", headers = {} } = {}): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const call = request(url, { method, headers }, (response) => {
      const { statusCode, headers: given } = response;
      text(response).then((body) => resolve({ status: statusCode!, headers: given, body }), reject);
    });
    call.on("error", reject).end();
    return await promise;
  }

  it("answers this machine alone, to read alone, and lets the page load nothing from elsewhere", async () => {
    await told(
      { epochs: 2, until: Date.now() },
      (ledger) => ledger.write(),
      async (url) => {
        const { status, headers } = await get(url);
        assert.equal(status, 200);
        assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
        assert.match(String(headers["content-security-policy"]), /default-src 'none'/);
        for (const host of [
          "evil.example",
          "evil.example:80",
          "127.0.0.1.evil.example",
          "localhost.evil.example",
          "2130706433",
        ])
          assert.equal((await get(url, { headers: { host } })).status, 403, host);
        for (const host of ["localhost:8080", "127.0.0.1", "[::1]:9"])
          assert.equal((await get(url, { headers: { host } })).status, 200, host);
        for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
          assert.equal((await get(url, { method })).status, 405, method);
        for (const path of [
          "/../../package.json",
          "/watch/page/client/../../../run.js",
          "/etc/passwd",
          "/epoch?epoch=99",
        ])
          assert.equal((await get(url + path)).status, 404, path);
        for (const query of ["before=-1", "before=x", "before=1e9999", ""])
          assert.deepEqual(JSON.parse((await get(`${url}/epochs?${query}`)).body), [], query);
        const assets = ["/page.css", "/icon.svg", "/format.js", "/watch/page/client/main.js"];
        for (const path of assets) assert.equal((await get(url + path)).status, 200, path);
      },
    );
  });

  it("goes on when the state goes away, and says so", async () => {
    using folder = temporaryFolder();
    const state = join(folder.path, "state");
    const ledger = new LedgerStory(state, { epochs: 2, until: Date.now() });
    await ledger.write();
    await ledger.ledger.close();
    await showing(state, async (url) => {
      const { page } = await open(browser, url);
      await page.locator("#epochs tbody tr").first().waitFor();
      rmSync(state, { recursive: true });
      await until("it answers still", async () => (await get(`${url}/epoch?epoch=1`)).status === 404);
      assert.equal(await page.locator("#epochs tbody tr").count(), 2);
    });
  });
});
