// The search of the workspace: what is found, shown, opened and cancelled.

import { strict as assert } from "node:assert";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { archive, view } from "./steps.mjs";

const FIELD = ".search-field input";

/** Types a text at once, as a paste would. */
async function put(tab, words) {
  await tab.until((field) => document.querySelector(field), FIELD);
  await tab.eval(
    ([field, text]) => {
      const input = document.querySelector(field);
      input.value = text;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    },
    [FIELD, words],
  );
}

/** Searches, and gives what is shown: lines by file, names, the sentence above, marked texts. */
async function seek(tab, words) {
  await put(tab, words);
  await tab.until(
    (text) =>
      document.querySelector(".search").dataset.state === "idle" &&
      document.querySelector(".found")?.dataset.for === text,
    words,
  );
  return tab.eval(() => ({
    lines: Object.fromEntries(
      [...document.querySelectorAll(".found [data-file]")].map((file) => [
        file.dataset.file,
        [...file.querySelectorAll("[data-line]")].map((hit) => Number(hit.dataset.line)),
      ]),
    ),
    names: [...document.querySelectorAll(".hit.name .path")].map((one) => one.textContent).sort(),
    marks: [...document.querySelectorAll(".found mark")].map((one) => one.textContent),
    said: document.querySelector(".search [role=status], .search [role=alert]").innerText,
    ms: Number(document.querySelector(".search [data-ms]")?.dataset.ms),
  }));
}

/** What a search must find, from the files themselves. */
function wanted(files, expression) {
  const lines = {};
  const names = [];
  for (const [path, text] of Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const own = text.split("\n").flatMap((line, at) => (expression.test(line) ? [at + 1] : []));
    if (own.length > 0) lines[path] = own;
    if (expression.test(path.slice(path.lastIndexOf("/") + 1))) names.push(path);
  }
  return { lines, names };
}

const press = (tab, label) =>
  tab.eval((name) => document.querySelector(`.search [aria-label="${name}"]`).click(), label);
const CASE = "Match upper and lower case";
const REGEX = "Regular expression";

/** Lines and names of all mounts, literally and by expression, in any case and in one. */
export async function searchFinds(tab) {
  const files = await archive(tab);
  const equal = (seen, expression, label) => {
    const { lines, names } = wanted(files, expression);
    assert.deepEqual([seen.lines, seen.names], [lines, names], label);
    assert.ok(seen.ms > 0 && seen.ms < 5000, `${label}: ${seen.ms} ms`);
    assert.match(seen.said, /\d m?s$/m, label);
    return { lines, names };
  };
  const first = await seek(tab, "ORDERS");
  const { lines, names } = equal(first, /orders/i, "any case");
  const mounts = new Set(Object.keys(lines).map((path) => path.split("/")[1]));
  assert.ok(mounts.size > 1 && names.length > 1, JSON.stringify({ lines, names }));
  const total = Object.values(lines).flat().length;
  const count = Object.keys(lines).length;
  assert.match(first.said, new RegExp(`^${total} lines in ${count} files, ${names.length} names`));
  assert.ok(first.marks.length >= total && first.marks.every((mark) => /^orders$/i.test(mark)));
  await press(tab, CASE);
  assert.match((await seek(tab, "ORDERS")).said, /^Nothing found/);
  equal(await seek(tab, "README"), /README/, "one case");
  assert.match((await seek(tab, "sum \\+= \\$\\d")).said, /^Nothing found/);
  await press(tab, REGEX);
  const some = await seek(tab, "sum \\+= \\$\\d");
  equal(some, /sum \+= \$\d/, "expression");
  assert.ok(some.marks.includes("sum += $3"), JSON.stringify(some.marks));
  equal(await seek(tab, "^READ.*d$"), /^READ.*d$/, "names by expression");
  assert.match((await seek(tab, "(")).said, /invalid|expression|unclosed/i);
  await press(tab, REGEX);
  await press(tab, CASE);
  // Letters that are signs in patterns and expressions stand for themselves.
  equal(await seek(tab, "[$].*{"), /\[\$\]\.\*\{/, "signs");
}

/** A click opens the file at the line; the results stay. */
export async function hitsOpen(tab) {
  await view(tab, "#/files");
  await seek(tab, "print sum");
  await tab.click('.found [data-file="/work/src/total.sh"] .hit');
  await tab.until(() => document.querySelector(".cm-activeLineGutter")?.textContent === "4");
  const line = () => document.querySelector(".cm-activeLine").textContent;
  assert.equal(await tab.eval(line), "  END { print sum }");
  await seek(tab, "NR > 1");
  await tab.click('.found [data-file="/work/src/total.sh"] .hit');
  await tab.until(() => document.querySelector(".cm-activeLineGutter")?.textContent === "3");
  // The other views of the file can still be chosen.
  await tab.eval(() =>
    [...document.querySelectorAll(".file-tools .segments button")].at(-1).click(),
  );
  await tab.until(() => document.querySelector(".changes, .pad"));
  await put(tab, "");
  await tab.until(() => document.querySelector(".tree"));
  await view(tab, "#/files");
}

/** More lines than are shown, and a line far down in a file that is opened in part. */
export async function manyAreCut(tab) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-search-"));
  const long = Array.from({ length: 600 }, (_, n) => `zebra ${n}`);
  const large = Array.from({ length: 60_000 }, (_, n) => `${n} some words to fill the line with`);
  large[40_000] = "an okapi";
  try {
    writeFileSync(join(folder, "long.txt"), long.join("\n"));
    writeFileSync(join(folder, "large.txt"), large.join("\n"));
    await view(tab, "#/files");
    await put(tab, "");
    await tab.until(() => document.querySelector('.tree [data-path="/memories"]'));
    await tab.click('.tree [data-path="/memories"]');
    await tab.upload(
      "[aria-label='Add files']",
      join(folder, "long.txt"),
      join(folder, "large.txt"),
    );
    await tab.until(() => /2 files stored/.test(document.querySelector(".drop-note")?.textContent));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { lines, said } = await seek(tab, "zebra");
  assert.equal(lines["/memories/long.txt"].length, 500);
  assert.match(said, /There are more: only the first 500 lines are shown/);
  const { lines: one, said: whole } = await seek(tab, "okapi");
  assert.deepEqual(one, { "/memories/large.txt": [40_001] });
  assert.doesNotMatch(whole, /more/);
  await tab.click(".found .hit");
  await tab.until(() => document.querySelector(".cm-activeLine")?.textContent === "an okapi");
  assert.equal(
    await tab.eval(() => document.querySelector(".cm-activeLineGutter").textContent),
    "40001",
  );
  // A file of which a part is shown cannot be edited, and can be deleted.
  assert.equal(await tab.eval(() => document.querySelector("[data-do=save]")), null);
  for (const path of ["/memories/large.txt", "/memories/long.txt"]) {
    await view(tab, `#/files${path}`);
    await tab.click(`[aria-label="Delete ${path}"]`);
    await tab.until(() => document.querySelector(".overview"));
  }
  await put(tab, "");
}

const EMPTY =
  '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated><KeyCount>0</KeyCount></ListBucketResult>';
const OPEN = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*, authorization",
  "access-control-expose-headers": "*",
  "content-type": "application/xml",
};

/**
 * A bucket that keeps the listing of a search back as long as `slow` is set; `ended` counts those given up. A
 * listing of one level, which the tree beside it asks for, is answered.
 */
async function slowBucket() {
  const state = { slow: false, waiting: 0, ended: 0 };
  const server = createServer((request, response) => {
    if (request.method === "OPTIONS") return void response.writeHead(204, OPEN).end();
    const isLevel = new URL(request.url, "http://bucket").searchParams.has("delimiter");
    if (!state.slow || isLevel) return void response.writeHead(200, OPEN).end(EMPTY);
    state.waiting += 1;
    response.once("close", () => {
      state.ended += 1;
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    state,
    address: `http://localhost:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function reached(what, condition) {
  for (let tries = 0; tries < 400; tries++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  assert.fail(what);
}

/** What is typed next ends the search before, down to its requests. */
export async function typingCancels(tab, asks) {
  const bucket = await slowBucket();
  const { state } = bucket;
  asks(bucket.address);
  try {
    await view(tab, "#/files");
    await tab.page.getByRole("button", { name: "S3 bucket" }).click();
    const fields = { endpoint: bucket.address, bucket: "slow", key: "k", secret: "s" };
    for (const [name, value] of Object.entries(fields)) {
      await tab.page.fill(`input[name=${name}]`, value);
    }
    await tab.page.getByRole("button", { name: "Mount at /s3" }).click();
    await tab.until(() => document.querySelector('.tree [data-path="/s3"]'));
    state.slow = true;
    await put(tab, "ord");
    await reached("the search asked the bucket", () => state.waiting > 0);
    assert.equal(state.ended, 0);
    assert.equal(
      await tab.eval(() => document.querySelector(".search").dataset.state),
      "searching",
    );
    state.slow = false;
    const { lines } = await seek(tab, "orders");
    assert.ok(Object.keys(lines).length > 0);
    await reached("the first search was given up", () => state.ended === state.waiting);
  } finally {
    state.slow = false;
    await put(tab, "");
    await tab.page.getByRole("button", { name: "Unmount" }).click();
    await tab.until(() => !document.querySelector('[data-path="/s3"]'));
    await bucket.close();
  }
}

/** From any view to a line of a file without a pointer. */
export async function searchByKeys(tab) {
  const focused = () => document.activeElement?.matches(".search-field input");
  await view(tab, "#/agent");
  await tab.until(() => document.querySelector(".stream"));
  await tab.eval(() => document.activeElement?.blur());
  await tab.press("/");
  await tab.until(focused);
  assert.match(await tab.eval(() => location.hash), /^#\/files/);
  await tab.type("print sum");
  await tab.until(() => document.querySelector(".found .hit[data-line]"));
  await tab.press("ArrowDown");
  await tab.press("Enter");
  await tab.until(() => document.querySelector(".cm-activeLineGutter")?.textContent === "4");
  // In the editor a slash is a letter; the chord is not.
  assert.ok(await tab.eval(() => document.activeElement.matches(".cm-content")));
  await tab.press("Control+Shift+F");
  await tab.until(focused);
  assert.equal(await tab.eval(() => location.hash), "#/files/work/src/total.sh");
  await tab.press("Escape");
  await tab.until(() => document.querySelector(".tree"));
  assert.equal(await tab.eval(() => document.querySelector(".search-field input").value), "");
  await view(tab, "#/files");
}
