// The time of a call is its own: neither what is loaded for it nor a question is counted.

import { strict as assert } from "node:assert";

const SLOW_MS = 1500;

/** The shell arrives late, and a person answers late. */
export async function timesAreOwn(browser) {
  // A service worker would ask past the test.
  const profile = await browser.profile({ serviceWorkers: "block" });
  let held = 0;
  await profile.context.route(/just-bash/, async (route) => {
    held += 1;
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    await route.continue();
  });
  const tab = await profile.tab();
  await tab.until(() => document.querySelector(".controls select"));
  await tab.choose(".controls select", "fast");
  await tab.until(() => document.querySelector(".question .primary"));
  const asked = Date.now();
  await tab.eval(() => new Promise((resolve) => setTimeout(resolve, 700)));
  await tab.click(".question .primary");
  const waited = Date.now() - asked;
  await tab.until(() => document.querySelector(".progress")?.textContent === "Finished");
  const calls = await tab.eval(() =>
    [...document.querySelectorAll(".call")].map((call) => ({
      tool: call.dataset.tool,
      ms: Number(call.querySelector("[data-ms]").dataset.ms),
      loadMs: Number(call.querySelector("[data-load-ms]")?.dataset.loadMs ?? 0),
    })),
  );
  assert.ok(held > 0, "nothing was held back");
  const commands = calls.filter(({ tool }) => tool === "execute");
  // The page begins to load the shell before the first command.
  assert.ok(commands[0].loadMs > SLOW_MS / 3, JSON.stringify(commands));
  assert.equal(commands[1].loadMs, 0);
  for (const { ms } of commands) assert.ok(ms < SLOW_MS, JSON.stringify(commands));
  const { ms } = calls.find(({ tool }) => tool === "delete");
  assert.ok(waited >= 700 && ms < waited - 400, `${ms} ms, ${waited} of them waiting`);
  await profile.context.close();
}
