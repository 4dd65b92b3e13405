// The package's conformance suite on the storages of a browser.

import { SHORT } from "../../clients/client.mjs";
import { launch } from "../lib/browsers.mjs";
import { together } from "../lib/together.mjs";

const MODULE = "/pages/conformance.mjs";
/** Cases that every storage here must run; fewer means that the suite did not look at it. */
const LEAST = 120;

/** `add(name, report)` counts the cases of one storage. */
export async function conforms({ browser: name, kinds, server, files, add, log }) {
  const browser = await launch(name);
  try {
    const runs = kinds.map((kind) => ["conformance", { kind }]);
    runs.push(...kinds.map((kind) => ["inWorker", { kind }]));
    if (files) runs.push(["conformance", { kind: "http", url: files, only: SHORT }]);
    if (name === "chromium") runs.push(["conformance", { kind: "directory", withoutMove: true }]);
    const conform = async ([how, asked]) => {
      // Firefox is slow with OPFS; its worker has the same code, and runs what differs there.
      const slow = name === "firefox" && asked.kind !== "indexeddb" && how === "inWorker";
      if (slow)
        asked.only = ["write", "edit", "race", "byte", "delet", "a commit makes all changes"];
      const page = await browser.page(`${server.origin}/pages/blank.html`);
      const title = `${name}, ${asked.kind}${how === "inWorker" ? " in a worker" : ""}`;
      const report = await page.call(MODULE, how, asked);
      if (report.passed + report.failed < (asked.only ? 10 : LEAST)) {
        report.failed++;
        report.failures.push(`only ${report.passed} cases ran`);
      }
      add(title, report);
      log(`      left out: ${report.leftOut.join("; ") || "nothing"}`);
      await page.close();
    };
    // A browser may end with its last page, so one stays.
    const stays = await browser.page(`${server.origin}/pages/blank.html`);
    await together(
      2,
      runs.map((run) => () => conform(run)),
    );
    const seeds = 8;
    const seen = await stays.call(MODULE, "index", { seeds });
    const failures = [...seen.failures];
    if (seen.excluded < seeds) failures.push(`the index excluded only ${seen.excluded} files`);
    const failed = failures.length;
    add(`${name}, search index`, {
      passed: seen.searches - seen.failures.length,
      failed,
      failures,
    });
  } finally {
    await browser.close();
  }
}
