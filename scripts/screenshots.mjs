// `node scripts/screenshots.mjs [--keep]`: every view of the playground in both themes, from a phone
// to a large screen, in `test-results/playground/`. `--keep` also replaces the one in the docs.

import { cpSync, mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { serveFolder } from "../tests/playground/server.mjs";
import { finish, view } from "../tests/playground/steps.mjs";
import { openChromium } from "../tests/playground/tabs.mjs";
import { at, cache } from "./lib/paths.mjs";
import { buildWww } from "./lib/www.mjs";
import { ensureAll } from "./setup.mjs";

const { values } = parseArgs({ options: { keep: { type: "boolean", default: false } } });
await ensureAll(["npm", "build", "www", "chromium"]);
await buildWww(cache("www-test"));
const out = at("test-results/playground");
mkdirSync(out, { recursive: true });
const server = await serveFolder(cache("www-test"));
const browser = await openChromium(server.address, []);

const SIZES = [
  [390, 844],
  [1440, 900],
  [3840, 2160],
];

async function shoot(tab, name) {
  // Pictures are taken when nothing moves and nothing is loaded.
  await tab.page.waitForLoadState("networkidle");
  await tab.eval(() =>
    // An element that is replaced ends its animation with an error.
    Promise.allSettled(
      document
        .getAnimations()
        // A cursor blinks for ever.
        .filter(({ effect }) => effect.getComputedTiming().endTime < 10_000)
        .map(({ finished }) => finished),
    ),
  );
  await tab.page.screenshot({ path: `${out}/${name}.png` });
}

for (const colorScheme of ["light", "dark"]) {
  for (const [width, height] of SIZES) {
    const name = (which) => `${which}-${colorScheme}-${width}`;
    const profile = await browser.profile({ viewport: { width, height }, colorScheme });
    const tab = await profile.tab();
    await tab.until(() => document.querySelector(".controls select"));
    await tab.choose(".controls select", "fast");
    await tab.until(() => document.querySelector(".question"));
    await shoot(tab, name("agent"));
    await finish(tab);
    await shoot(tab, name("finished"));
    for (const [which, hash, sign] of [
      ["files", "#/files", ".overview"],
      ["editor", "#/files/work/src/total.sh", ".cm-line"],
      ["review", "#/review", ".now"],
      ["rules", "#/rules", ".attempts li"],
      ["shell", "#/shell", "[data-ready]"],
      ["speed", "#/speed", ".task"],
      ["model", "#/model", ".ask"],
    ]) {
      await view(tab, hash);
      await tab.until((wanted) => document.querySelector(wanted), sign);
      if (which === "speed") {
        await tab.eval(() => document.querySelector(".controls .segments button").click());
        await tab.click("[data-do=measure]");
        await tab.until(() => document.querySelector(".progress").dataset.state === "done");
      }
      if (which === "review") {
        await tab.click("[data-do=work]");
        await tab.until(() => document.querySelectorAll(".part input").length === 3);
        await tab.eval(() => document.querySelectorAll(".part input")[1].click());
      }
      if (which === "shell") {
        await tab.eval(() => document.querySelectorAll(".suggested button")[2].click());
        await tab.until(() =>
          /kettle/.test(document.querySelector(".xterm-accessibility").textContent),
        );
      }
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
