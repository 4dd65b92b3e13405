// The simulator in a page: a good seed and a seed with a bug, their verdicts and what is drawn.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { results } from "../../scripts/lib/paths.mjs";
import { buildSimulatorPage } from "../../scripts/lib/simulation.mjs";
import { ensure } from "../../scripts/setup.mjs";
import { launch, serve } from "../lib/browser.mjs";

let server;
let browser;
let page;
const errors = [];

before(async () => {
  await ensure("chromium");
  server = await serve(await buildSimulatorPage());
  browser = await launch();
  page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  page.on("pageerror", (error) => errors.push(`${error}`));
});

after(async () => {
  await browser?.close();
  await server?.stop();
  assert.deepEqual(errors, []);
});

async function open(query) {
  await page.goto(`${server.origin}/?${query}`);
  await page.waitForSelector("#history svg .bar");
  const text = await page.textContent("#verdict");
  const count = (selector) => page.locator(`#history svg ${selector}`).count();
  return { text, bars: await count(".bar"), faults: await count(".fault"), count };
}

async function picture(name) {
  mkdirSync(results("simulation"), { recursive: true });
  await page.screenshot({ path: results("simulation", `${name}.png`) });
}

test("a seed that fits the model is drawn: a bar for each call, a mark for each fault", async () => {
  const { text, bars, faults, count } = await open("seed=1642");
  await picture("good");
  const [, calls, met] = /fits the model: (\d+) calls, (\d+) faults/.exec(text) ?? [];
  assert.equal(bars, Number(calls));
  assert.equal(faults, Number(met));
  assert.ok(bars > 10 && faults > 0);
  assert.equal(await count(".wrong"), 0);
  // Bars lie side by side over time, on more than one row.
  const boxes = await page.$$eval("#history .bar", (bars) =>
    bars.map((bar) => ({ x: Number(bar.getAttribute("x")), y: Number(bar.getAttribute("y")) })),
  );
  assert.ok(new Set(boxes.map(({ y }) => y)).size > 1);
  assert.ok(boxes.every(({ x }, at) => at === 0 || x >= boxes[at - 1].x));
});

test("steps show one call more or less", async () => {
  await page.click("#first");
  assert.equal(await page.locator("#history .bar").count(), 0);
  for (const wanted of [1, 2, 3]) {
    await page.click("#step");
    assert.equal(await page.locator("#history .bar").count(), wanted);
  }
  await page.click("#back");
  assert.equal(await page.locator("#history .bar").count(), 2);
});

test("a bug is chosen, and the verdict and the contradicting calls show it", async () => {
  const bug = process.env.KITBAG_BUG_SEED ?? "6";
  const good = await open(`seed=${bug}`);
  assert.match(good.text, /fits the model/);
  await page.selectOption("#bug", "read-then-write");
  await page.waitForSelector("#verdict.bad");
  await picture("bad");
  assert.match(await page.textContent("#verdict"), /contradicts the model.*no order explains/s);
  assert.ok((await page.locator("#history .wrong").count()) > 0);
});

test("a seed gives the same history in the page as natively", async () => {
  const shown = await page.evaluate(async () => {
    const { simulate } = await import("/kitbag_simulation.js");
    return [7, 8, 9].map((seed) => {
      const { calls, faults } = JSON.parse(simulate(seed, ""));
      return { calls: calls.length, faults: faults.length };
    });
  });
  const { run } = await import("../../scripts/lib/exec.mjs");
  const { buildSimulator } = await import("../../scripts/lib/simulation.mjs");
  const program = await buildSimulator();
  for (const [at, seed] of [7, 8, 9].entries()) {
    const { output } = await run(program, ["--seeds", "1", "--from", `${seed}`, "--json"]);
    const { calls, faults } = JSON.parse(output);
    assert.deepEqual(shown[at], { calls, faults });
  }
});
