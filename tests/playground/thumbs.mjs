// Every view on a phone: nothing is cut or scrolls sideways, and what is pressed is as large as a thumb.

import { strict as assert } from "node:assert";
import { finish, fitsSideways, quick, view } from "./steps.mjs";

const LEAST_PX = 44;

/** Views with what is done there first, and what is then to be seen. */
const VIEWS = [
  ["#/agent", ".outcome"],
  ["#/files", ".overview"],
  ["#/files/work/src/total.sh", ".cm-line"],
  ["#/rules", ".attempts li"],
  ["#/review", "[data-do=work]", "[data-do=work]", ".part"],
  ["#/sync", ".device[data-state=synced]"],
  ["#/shell", "[data-ready]"],
  ["#/speed", "[data-do=measure]"],
  ["#/model", ".ask"],
  ["#/simulator", "[data-simulator=absent]"],
];

/** What cannot be used by thumb in the page as it is. */
function found(least) {
  const seen = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true });
  };
  const name = (element) => `${element.outerHTML.slice(0, 90)}`;
  const out = [];
  for (const element of document.querySelectorAll("body *")) {
    if (!seen(element) || element.closest(".xterm")) continue;
    const { overflowX } = getComputedStyle(element);
    if (/auto|scroll/.test(overflowX) && element.scrollWidth > element.clientWidth + 1) {
      out.push(`scrolls sideways: ${name(element)}`);
    }
  }
  const targets =
    "button, .button, .views a, select, summary, textarea, input:not([type=checkbox], [type=file]), .part label";
  for (const element of document.querySelectorAll(targets)) {
    if (!seen(element) || element.closest(".xterm, .cm-editor, .skip")) continue;
    const { width, height } = element.getBoundingClientRect();
    if (height < least - 0.5 || width < least - 0.5) {
      out.push(`${Math.round(width)} × ${Math.round(height)}: ${name(element)}`);
    }
  }
  return out;
}

export async function thumbsReach(browser) {
  const profile = await browser.profile({ viewport: { width: 390, height: 844 }, hasTouch: true });
  const tab = await profile.tab();
  // Controls fold, and unfold where they are.
  await tab.until(() => document.querySelector(".controls .fold"));
  assert.equal(await tab.page.locator(".controls select").isVisible(), false);
  await tab.page.locator(".controls .fold summary").tap();
  // The browser makes a click of a tap in its own time.
  await tab.page.locator(".controls select").waitFor({ state: "visible" });
  await quick(tab);
  await finish(tab);
  const wrong = [];
  for (const [hash, sign, press, then] of VIEWS) {
    await view(tab, hash);
    await tab.until((wanted) => document.querySelector(wanted), sign);
    if (press) {
      await tab.click(press);
      await tab.until((wanted) => document.querySelector(wanted), then);
    }
    // With everything unfolded, too.
    for (const open of [false, true]) {
      await tab.eval((unfolded) => {
        for (const fold of document.querySelectorAll(".fold")) fold.open = unfolded;
      }, open);
      await fitsSideways(tab);
      wrong.push(...(await tab.eval(found, LEAST_PX)).map((one) => `${hash}: ${one}`));
    }
  }
  await searches(tab, wrong);
  await longCommand(tab);
  assert.deepEqual([...new Set(wrong)], []);
  await profile.context.close();
}

/** A search by thumb: results are there below the field, and a file leads back to them. */
async function searches(tab, wrong) {
  await view(tab, "#/files");
  await tab.page.fill(".search-field input", "orders");
  await tab.until(() => document.querySelector(".found .hit[data-line]"));
  wrong.push(...(await tab.eval(found, LEAST_PX)).map((one) => `search: ${one}`));
  await fitsSideways(tab);
  await tab.page.locator('.found [data-file="/work/README.md"] .hit').first().tap();
  await tab.until(() => document.querySelector(".cm-activeLine")?.textContent === "# orders");
  await tab.page.locator(".file-head .back").tap();
  await tab.page.locator(".found .hit[data-line]").first().waitFor({ state: "visible" });
  await tab.page.locator("[aria-label='End the search']").tap();
  await tab.until(() => document.querySelector(".tree"));
}

/** A command of several rows is shown once, and edited in its middle. */
async function longCommand(tab) {
  await view(tab, "#/shell");
  await tab.until(() => document.querySelector("[data-ready]"));
  await tab.click(".xterm-screen");
  const words = Array.from({ length: 20 }, (_, n) => `word${n}`);
  await tab.type(`echo ${words.join(" ")} | tr d D`);
  for (let n = 0; n < " word19 | tr d D".length; n++) await tab.press("ArrowLeft");
  await tab.type(" here");
  await tab.press("Enter");
  await tab.until(() => /worD19\s*$/m.test(document.querySelector(".xterm-rows").innerText));
  const rows = await tab.eval(() => document.querySelector(".xterm-rows").innerText);
  assert.equal(rows.match(/echo word0/g).length, 1, rows);
  const all = rows.replace(/\s/g, "");
  assert.ok(all.includes(`${words.slice(0, 19).join("").replaceAll("d", "D")}hereworD19`), rows);
}
