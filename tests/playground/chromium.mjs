// What is tested in Chromium alone: sizes, times, the service worker, drops of real folders, the
// width of a phone, accessibility.

import { strict as assert } from "node:assert";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { at } from "../../scripts/lib/paths.mjs";
import { archive, finish, fitsSideways, retype, view } from "./steps.mjs";

const MOST_BYTES = 1_000_000;
const MOST_MS = 1_000;

/** The first load, until the agent has finished: bytes, and when the first button can be used. */
export async function firstLoad(profile, server, log) {
  server.sent.length = 0;
  const tab = await profile.tab("", () => {
    const look = new MutationObserver(() => {
      if (!document.querySelector("[data-do=pause]")) return;
      globalThis.usable = performance.now();
      look.disconnect();
    });
    look.observe(document, { childList: true, subtree: true });
  });
  await tab.until(() => globalThis.usable);
  const usable = await tab.eval(() => globalThis.usable);
  await finish(tab);
  const first = server.sent.filter(({ worker }) => !worker);
  const bytes = first.reduce((sum, one) => sum + one.bytes, 0);
  log(
    `      first load: ${first.length} files, ${bytes} bytes with gzip; usable after ${Math.round(usable)} ms`,
  );
  for (const one of first) log(`        ${one.path || "index.html"} ${one.bytes}`);
  assert.ok(bytes <= MOST_BYTES, `${bytes} bytes`);
  assert.ok(usable <= MOST_MS, `${usable} ms`);
  return tab;
}

/** After the first load the page and every view open without a network. */
export async function worksOffline(profile, tab) {
  await tab.eval(() => navigator.serviceWorker.ready);
  await tab.until(() => navigator.serviceWorker.controller);
  await profile.context.setOffline(true);
  try {
    await tab.reload();
    for (const [hash, sign] of [
      ["#/files", ".overview"],
      ["#/rules", ".cm-content"],
      ["#/shell", "[data-ready]"],
      ["#/speed", "[data-do=measure]"],
      ["#/model", ".ask"],
    ]) {
      await view(tab, hash);
      await tab.until((wanted) => document.querySelector(wanted), sign);
    }
  } finally {
    await profile.context.setOffline(false);
  }
}

/** A folder of this machine, dropped on a directory of the tree. */
export async function dropsFolder(tab) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-drop-"));
  try {
    mkdirSync(join(folder, "album/deep"), { recursive: true });
    writeFileSync(join(folder, "album/one.txt"), "one\n");
    writeFileSync(join(folder, "album/deep/two.bin"), Uint8Array.of(0, 1, 2, 255));
    await view(tab, "#/files");
    const row = tab.page.locator('[data-path="/memories"]');
    const { x, y } = await row.boundingBox();
    const client = await tab.page.context().newCDPSession(tab.page);
    const data = { items: [], files: [join(folder, "album")], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) {
      await client.send("Input.dispatchDragEvent", { type, x: x + 30, y: y + 8, data });
    }
    await tab.until(() =>
      /2 files stored in \/memories/.test(document.querySelector(".drop-note")?.textContent),
    );
    const files = await archive(tab);
    assert.equal(files["/memories/album/one.txt"], "one\n");
    assert.ok("/memories/album/deep/two.bin" in files);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** At 390 px each step of the agent is seen, and a failed edit where the finger is. */
export async function phone(browser) {
  const profile = await browser.profile({ viewport: { width: 390, height: 844 } });
  const tab = await profile.tab();
  await tab.until(() => document.querySelectorAll(".call").length > 2);
  await tab.click("[data-do=pause]");
  for (;;) {
    await fitsSideways(tab);
    const last = tab.page.locator(".call").last();
    const box = await last.boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 390, `a step is at ${box.x}, ${box.width} wide`);
    assert.ok(box.y < 780 && box.y + box.height > 100, `a step is at ${box.y}, ${box.height} high`);
    if (await tab.eval(() => document.querySelector(".question"))) {
      const allow = await tab.page.locator(".question .primary").boundingBox();
      assert.ok(allow.y + allow.height < 788, "the question is out of sight");
      await tab.click(".question .primary");
    }
    if (await tab.eval(() => document.querySelector(".progress").textContent === "Finished")) break;
    const count = await tab.eval(() => document.querySelectorAll(".call").length);
    await tab.click("[data-do=step]");
    await tab.until(
      (before) =>
        document.querySelectorAll(".call").length > before &&
        document.querySelector(".call:last-child").dataset.state !== "running",
      count,
    );
  }
  await failedEdit(profile, tab);
  await profile.context.close();
}

async function failedEdit(profile, tab) {
  const path = "#/files/memories/orders.md";
  const other = await profile.tab(path);
  await view(tab, path);
  await tab.until(() => document.querySelector(".cm-content")?.textContent.includes("orders"));
  await retype(tab, "mine\n");
  await other.until(() => document.querySelector(".cm-content")?.textContent.includes("orders"));
  await retype(other, "theirs\n");
  await other.click("[data-do=save]");
  await other.until(() =>
    /saved/.test(document.querySelector(".file-head [role=status]").textContent),
  );
  await other.close();
  await tab.page
    .locator("[data-do=save]")
    .tap?.()
    .catch(() => tab.click("[data-do=save]"));
  await tab.until(() => document.querySelector(".file-error"));
  await fitsSideways(tab);
  const save = await tab.page.locator("[data-do=save]").boundingBox();
  const error = await tab.page.locator(".file-error").boundingBox();
  assert.ok(
    error.y - save.y < 120 && error.y + error.height < 780,
    "the error is not at the button",
  );
  assert.match(await tab.page.locator(".file-error").innerText(), /Nothing was overwritten/);
}

/** Serious violations of accessibility, in every view and both themes. */
export async function accessible(tab) {
  const axe = readFileSync(at("www/node_modules/axe-core/axe.min.js"), "utf8");
  const found = [];
  for (const theme of ["light", "dark"]) {
    await tab.eval((name) => {
      document.documentElement.dataset.theme = name;
    }, theme);
    for (const name of [
      "agent",
      "files",
      "files/memories/orders.md",
      "rules",
      "shell",
      "speed",
      "model",
    ]) {
      await view(tab, `#/${name}`);
      await tab.until(
        (shown) => document.querySelector(`[data-shows="${shown}"] h1`),
        name.split("/")[0],
      );
      await tab.page.waitForLoadState("networkidle");
      await tab.eval(axe);
      const { violations } = await tab.eval(() =>
        globalThis.axe.run(document, { resultTypes: ["violations"] }),
      );
      for (const { id, impact, nodes } of violations) {
        if (impact !== "serious" && impact !== "critical") continue;
        found.push(
          `${theme} ${name}: ${id}: ${nodes
            .map(
              ({ html, failureSummary }) =>
                `${html.slice(0, 120)} ${failureSummary?.slice(0, 200)}`,
            )
            .join(" | ")
            .slice(0, 500)}`,
        );
      }
    }
  }
  assert.deepEqual(found, []);
}
