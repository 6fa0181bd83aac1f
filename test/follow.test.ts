/** `run --follow`: input that comes slowly and steadily is taken up until Ctrl-C, an epoch an interval. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { readHead } from "./support/inspect.ts";
import { Place, words } from "./support/words.ts";

for (const interval of ["300ms", "1500ms"])
  test(`follows a file that grows all the time, with epochs ${interval} apart`, async () => {
    using place = new Place(words(0, 10));
    const { child, finished } = place.start(["--follow", "--epoch-interval", interval]);
    await place.decided(1);
    for (let from = 10; from < 50; from++) {
      place.append(words(from, from + 1));
      await sleep(100);
    }
    const epochs = (await readHead(place.state))?.decided ?? 0;
    child.kill("SIGINT");
    const { code, stderr } = await finished;
    assert.equal(code, 130, stderr);
    assert.doesNotMatch(stderr, /error|warning/);
    assert.ok(epochs >= 2 && epochs < 30, `${epochs} epochs`);
    assert.equal((await place.run()).code, 0);
    assert.deepEqual(await place.rows(), place.expected());
  });
