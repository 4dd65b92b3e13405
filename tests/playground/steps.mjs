// Things that several cases do in the page.

import { strict as assert } from "node:assert";
import { createRequire } from "node:module";
import { at } from "../../scripts/lib/paths.mjs";

/** Packs and unpacks archives; the package is there once the playground was built. */
export const fflate = () => createRequire(at("www/package.json"))("fflate");

/** Opens another view of the same page. */
export async function view(tab, hash) {
  await tab.eval((next) => {
    location.hash = next;
  }, hash);
}

/** Chooses the fastest run of the scripted agent; on a phone the choice is folded. */
export async function quick(tab) {
  await tab.until(() => document.querySelector(".controls select"));
  await tab.eval(() => {
    const fold = document.querySelector(".controls .fold");
    if (fold) fold.open = true;
  });
  await tab.choose(".controls select", "fast");
  await tab.eval(() => {
    const fold = document.querySelector(".controls .fold");
    if (fold) fold.open = false;
  });
}

/** Lets the scripted agent finish, and allows what it asks. */
export async function finish(tab, answer = ".question .primary") {
  await quick(tab);
  await tab.click(answer);
  await tab.until(() => document.querySelector(".progress")?.textContent === "Finished");
}

/** All files of the tree, from the archive that the page makes: text by path. */
export async function archive(tab) {
  await view(tab, "#/files");
  await tab.until(() => document.querySelector("[data-do=zip]"));
  await tab.eval(() => {
    const made = URL.createObjectURL.bind(URL);
    globalThis.archive = undefined;
    URL.createObjectURL = (blob) => {
      if (blob.type === "application/zip") globalThis.archive = blob;
      return made(blob);
    };
  });
  await tab.click("[data-do=zip]");
  await tab.until(() => globalThis.archive);
  const bytes = await tab.eval(async () => [
    ...new Uint8Array(await globalThis.archive.arrayBuffer()),
  ]);
  const files = fflate().unzipSync(Uint8Array.from(bytes));
  return Object.fromEntries(
    Object.entries(files).map(([path, body]) => [`/${path}`, Buffer.from(body).toString("utf8")]),
  );
}

/** The states of all calls in the stream. */
export const states = (tab) =>
  tab.eval(() =>
    [...document.querySelectorAll(".call")].map((call) => [call.dataset.tool, call.dataset.state]),
  );

/** Replaces the text of the editor that is open. */
export async function retype(tab, text) {
  await tab.click(".cm-content");
  await tab.press("Control+a");
  await tab.insert(text);
}

/** Whether an element is in the window as a whole, sideways. */
export async function fitsSideways(tab) {
  const { wide, room } = await tab.eval(() => ({
    wide: document.documentElement.scrollWidth,
    room: innerWidth,
  }));
  assert.ok(wide <= room, `the page is ${wide} px wide in a window of ${room} px`);
}

/**
 * Waits until nothing moves, or fades from one colour to another. The animations are asked again and again:
 * one that is begun anew leaves its promise `finished` open for ever.
 */
export async function still(tab) {
  const moves = await tab.eval(async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const moving = () =>
      document
        .getAnimations()
        .filter(({ playState }) => playState === "running")
        // A cursor blinks for ever.
        .filter(({ effect }) => effect.getComputedTiming().endTime < 10_000);
    await frame();
    await frame();
    const began = performance.now();
    while (moving().length > 0 && performance.now() - began < 20_000) await frame();
    return moving().map(({ effect }) => effect.target?.outerHTML.slice(0, 100));
  });
  assert.deepEqual(moves, [], "these move for more than 20 seconds");
}

/** Serious violations of accessibility in what is shown now; axe must be in the page. */
export async function seriousIn(tab, where) {
  await still(tab);
  const { violations } = await tab.eval(() =>
    globalThis.axe.run(document, { resultTypes: ["violations"] }),
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => {
      const each = ({ html, failureSummary }) =>
        `${html.slice(0, 120)} ${failureSummary?.slice(0, 200)}`;
      return `${where}: ${id}: ${nodes.map(each).join(" | ").slice(0, 500)}`;
    });
}
