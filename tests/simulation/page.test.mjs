// The simulator's view of the playground: a good seed and a seed with a bug, their verdicts and what is
// drawn, on a wide screen and on a phone, in both themes.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { at, cache, results } from "../../scripts/lib/paths.mjs";
import { addSimulator, buildSimulator } from "../../scripts/lib/simulation.mjs";
import { builtWww } from "../../scripts/lib/www.mjs";
import { ensure } from "../../scripts/setup.mjs";
import { serveFolder } from "../playground/server.mjs";
import { fitsSideways, seriousIn, view } from "../playground/steps.mjs";
import { openChromium } from "../playground/tabs.mjs";

let server;
let browser;
let tab;
const trouble = [];

before(async () => {
  await ensure("chromium");
  const beside = cache("simulation-site");
  assert.equal(await addSimulator(beside), undefined);
  server = await serveFolder(await builtWww(), { also: beside });
  browser = await openChromium(server.address, trouble);
  const profile = await browser.profile({ viewport: { width: 1280, height: 720 } });
  tab = await profile.tab("#/simulator");
});

after(async () => {
  await browser?.close();
  await server?.close();
  assert.deepEqual(trouble, []);
});

const count = (selector) =>
  tab.eval((one) => document.querySelectorAll(`.history ${one}`).length, selector);

async function open(place) {
  await view(tab, `#/simulator/${place}`);
  const words = `Seed ${place.split("/")[0]}:`;
  await tab.until(
    (text) =>
      document.querySelector(".history .bar") &&
      document.querySelector(".simulated .muted").textContent.startsWith(text),
    words,
  );
  const text = await tab.eval(() => document.querySelector(".judged").textContent);
  return { text, bars: await count(".bar"), faults: await count(".fault") };
}

async function picture(name) {
  mkdirSync(results("simulation"), { recursive: true });
  await tab.page.screenshot({ path: results("simulation", `${name}.png`) });
}

test("a seed that fits the model is drawn: a bar for each call, a mark for each fault", async () => {
  const { text, bars, faults } = await open("1642");
  await picture("good");
  const [, calls, met] = /fits the model: (\d+) calls, (\d+) faults/.exec(text) ?? [];
  assert.equal(bars, Number(calls));
  assert.equal(faults, Number(met));
  assert.ok(bars > 10 && faults > 0);
  assert.equal(await count(".wrong"), 0);
  // Bars lie side by side over time, on more than one row.
  const boxes = await tab.eval(() =>
    [...document.querySelectorAll(".history .bar")].map((bar) => ({
      x: Number(bar.getAttribute("x")),
      y: Number(bar.getAttribute("y")),
    })),
  );
  assert.ok(new Set(boxes.map(({ y }) => y)).size > 1);
  assert.ok(boxes.every(({ x }, at) => at === 0 || x >= boxes[at - 1].x));
});

test("steps show one call more or less", async () => {
  await tab.click("[data-do=first]");
  await tab.until(() => document.querySelectorAll(".history .bar").length === 0);
  for (const wanted of [1, 2, 3]) {
    await tab.click("[data-do=on]");
    await tab.until((n) => document.querySelectorAll(".history .bar").length === n, wanted);
  }
  await tab.click("[data-do=back]");
  await tab.until(() => document.querySelectorAll(".history .bar").length === 2);
  assert.match(
    await tab.eval(() => document.querySelector(".detail").textContent),
    /^call 1, client/,
  );
});

test("a bug is chosen, and the verdict and the contradicting calls show it", async () => {
  const bug = process.env.KITBAG_BUG_SEED ?? "6";
  const good = await open(bug);
  assert.match(good.text, /fits the model/);
  await tab.choose("[aria-label='Deliberate bug']", "read-then-write");
  await tab.until(() => document.querySelector(".judged[data-good=false]"));
  await picture("bad");
  const text = await tab.eval(() => document.querySelector(".judged").textContent);
  assert.match(text, /contradicts the model.*no order explains/s);
  assert.ok((await count(".wrong")) > 0);
  assert.match(await tab.eval(() => location.hash), /\/read-then-write$/);
});

test("a seed gives the same history in the page as natively", async () => {
  const { run } = await import("../../scripts/lib/exec.mjs");
  const program = await buildSimulator();
  for (const seed of [7, 8, 9]) {
    const { bars, faults } = await open(`${seed}`);
    const { output } = await run(program, ["--seeds", "1", "--from", `${seed}`, "--json"]);
    const { calls, faults: met } = JSON.parse(output);
    assert.deepEqual([bars, faults], [calls, met]);
  }
});

test("it can be used in both themes, and on a phone, where time runs downwards", async () => {
  await tab.eval(readFileSync(at("www/node_modules/axe-core/axe.min.js"), "utf8"));
  const found = [];
  for (const width of [1280, 390]) {
    await tab.page.setViewportSize({ width, height: 844 });
    for (const place of ["1642", "6/read-then-write"]) {
      await open(place);
      await fitsSideways(tab);
      for (const theme of ["light", "dark"]) {
        await tab.eval((name) => {
          document.documentElement.dataset.theme = name;
        }, theme);
        await picture(`${place.split("/")[0]}-${theme}-${width}`);
        found.push(...(await seriousIn(tab, `${place} ${theme} ${width}`)));
      }
    }
  }
  assert.deepEqual(found, []);
  const box = await tab.eval(() => {
    const { scrollWidth, clientWidth } = document.querySelector(".history-box");
    const bars = [...document.querySelectorAll(".history .bar")];
    return {
      wide: scrollWidth - clientWidth,
      tops: bars.map((bar) => Number(bar.getAttribute("y"))),
    };
  });
  assert.ok(box.wide <= 0, "the drawing scrolls sideways");
  assert.ok(box.tops.every((y, at) => at === 0 || y >= box.tops[at - 1]));
});

test("while the program is compiled the view says so, and then shows it", async () => {
  const profile = await browser.profile({ serviceWorkers: "block" });
  let state = { state: "building" };
  await profile.context.route(/state\.json/, (route) => route.fulfill({ json: state }));
  const other = await profile.tab("#/simulator");
  await other.until(() => document.querySelector("[data-simulator=building]"));
  state = { state: "failed", error: "no compiler" };
  await other.until(() =>
    /no compiler/.test(document.querySelector("[data-simulator=failed]")?.textContent),
  );
  state = { state: "ready" };
  await other.reload();
  await other.until(() => document.querySelector(".history .bar"));
  await profile.context.close();
});
