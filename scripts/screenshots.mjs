// `node scripts/screenshots.mjs [--keep] [--width N] [--theme NAME]`: every view of the playground in
// both themes, from a phone to a large screen, in `test-results/playground/`. `--keep` also replaces
// the one in the docs.

import { cpSync, mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { serveFolder } from "../tests/playground/server.mjs";
import { finish, quick, retype, still, view } from "../tests/playground/steps.mjs";
import { openChromium } from "../tests/playground/tabs.mjs";
import { at, cache } from "./lib/paths.mjs";
import { buildWww } from "./lib/www.mjs";
import { ensureAll } from "./setup.mjs";

const { values } = parseArgs({
  options: {
    keep: { type: "boolean", default: false },
    width: { type: "string" },
    theme: { type: "string" },
  },
});
await ensureAll(["npm", "build", "www", "chromium"]);
await buildWww(cache("www-test"));
const out = at("test-results/playground");
mkdirSync(out, { recursive: true });
// The simulator is in the pictures if it was built before.
const server = await serveFolder(cache("www-test"), { also: cache("simulation-site") });
const browser = await openChromium(server.address, []);

const SIZES = [
  [390, 844],
  [1440, 900],
  [3840, 2160],
];

async function shoot(tab, name) {
  // Pictures are taken when nothing moves and nothing is loaded.
  await tab.page.waitForLoadState("networkidle");
  await still(tab);
  await tab.page.screenshot({ path: `${out}/${name}.png` });
}

/** What is done in a view before its picture is taken. */
const PREPARE = {
  search: async (tab) => {
    await tab.page.fill(".search-field input", "orders");
    await tab.until(() => document.querySelector('.search[data-state="idle"] .found'));
  },
  hit: async (tab) => {
    await tab.click(".found [data-file*='README'] .hit");
    await tab.until(() => document.querySelector(".cm-activeLine"));
    await tab.eval(() => document.querySelector("[aria-label='End the search']")?.click());
  },
  review: async (tab) => {
    await tab.click("[data-do=work]");
    await tab.until(() => document.querySelectorAll(".part input").length === 3);
    await tab.eval(() => document.querySelectorAll(".part input")[1].click());
  },
  sync: async (tab) => {
    const names = ["1", "2"].map((number) => `[data-device="device ${number}"]`);
    for (const [at, name] of names.entries()) {
      await tab.click(`${name} [data-do=offline]`);
      await tab.page.fill(`${name} textarea`, `# Plan\n\n1. ${["Look", "Ask"][at]}\n`);
      await tab.until(
        (of) => /changed file/.test(document.querySelector(`${of} .state`).textContent),
        name,
      );
    }
    for (const name of names) {
      await tab.click(`${name} [data-do=offline]`);
      await tab.until((of) => document.querySelector(of).dataset.state !== "offline", name);
      await tab.until((of) => document.querySelector(of).dataset.state !== "busy", name);
    }
  },
  mistake: async (tab) => {
    await retype(tab, "export default {\n  readOnly: true,\n  quota: {,\n};\n");
    await tab.until(() => document.querySelector(".cm-lint-marker-error"));
  },
  shell: async (tab) => {
    await tab.click(".xterm-screen");
    await tab.type(
      "grep -rn cents /work/src; cat /work/data/orders.csv | sort -t, -k4 -nr | head -3",
    );
    await tab.press("Enter");
    await tab.until(() =>
      /kettle/.test(document.querySelector(".xterm-accessibility").textContent),
    );
  },
  speed: async (tab) => {
    await tab.eval(() => document.querySelector(".controls .segments button").click());
    await tab.click("[data-do=measure]");
    await tab.until(
      () => document.querySelector(".progress").dataset.state === "done",
      undefined,
      120_000,
    );
  },
};

const VIEWS = [
  ["files", "#/files", ".overview"],
  ["search", "#/files", ".search-field"],
  ["hit", "#/files", ".found"],
  ["editor", "#/files/work/src/total.sh", ".cm-line"],
  ["review", "#/review", ".now"],
  ["sync", "#/sync", ".device[data-state=synced]"],
  ["rules", "#/rules", ".attempts li"],
  ["mistake", "#/rules", ".cm-content"],
  ["shell", "#/shell", "[data-ready]"],
  ["speed", "#/speed", ".task"],
  ["model", "#/model", ".ask"],
  ["simulator", "#/simulator/1642", "[data-simulator=absent], .history .bar"],
];

const themes = ["light", "dark"].filter((name) => !values.theme || name === values.theme);
const sizes = SIZES.filter(([width]) => !values.width || width === Number(values.width));
for (const colorScheme of themes) {
  for (const [width, height] of sizes) {
    const name = (which) => `${which}-${colorScheme}-${width}`;
    const profile = await browser.profile({ viewport: { width, height }, colorScheme });
    const tab = await profile.tab();
    await quick(tab);
    await tab.until(() => document.querySelector(".question"));
    await shoot(tab, name("agent"));
    await finish(tab);
    await shoot(tab, name("finished"));
    for (const [which, hash, sign] of VIEWS) {
      await view(tab, hash);
      await tab.until((wanted) => document.querySelector(wanted), sign);
      await PREPARE[which]?.(tab);
      await shoot(tab, name(which));
    }
    await profile.context.close();
  }
}
await browser.close();
await server.close();
if (values.keep) {
  mkdirSync(at("docs/images"), { recursive: true });
  cpSync(`${out}/agent-light-1440.png`, at("docs/images/playground.png"));
}
console.log(`The pictures are in ${out}`);
