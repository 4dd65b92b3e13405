// Two devices of the page go offline, are edited, and come back.

import { strict as assert } from "node:assert";
import { view } from "./steps.mjs";

const box = (name) => `[data-device="${name}"]`;

/** Goes offline or comes back. */
const offline = (tab, name) => tab.click(`${box(name)} [data-do=offline]`);

/** Waits until a device says so. */
const says = (tab, name, state) =>
  tab.until(
    ([of, wanted]) => document.querySelector(of)?.dataset.state === wanted,
    [box(name), state],
  );

const text = (tab, name) =>
  tab.eval((of) => document.querySelector(`${of} textarea`).value, box(name));

/** Types other words in the place of some, as a person would. */
async function retypes(tab, name, old, next) {
  await tab.until(
    ([of, before, after]) => {
      const area = document.querySelector(`${of} textarea`);
      // A run that began before may bring another text.
      if (area.readOnly) return false;
      area.value = area.value.replace(before, after);
      area.dispatchEvent(new InputEvent("input", { bubbles: true }));
      return true;
    },
    [box(name), old, next],
  );
  await tab.until(
    (of) => /changed file/.test(document.querySelector(`${of} .state`).textContent),
    box(name),
  );
}

const holds = (tab, name, wanted) =>
  tab.until(
    ([of, words]) => document.querySelector(`${of} textarea`)?.value.includes(words),
    [box(name), wanted],
  );

/** Both go offline, and change the same file. */
async function apart(tab, names, edits) {
  for (const [at, name] of names.entries()) {
    await offline(tab, name);
    await says(tab, name, "offline");
    await retypes(tab, name, ...edits[at]);
  }
}

export async function devicesSync(profile, tab) {
  await view(tab, "#/sync");
  await tab.until(() => document.querySelectorAll("[data-device]").length === 2);
  const names = await tab.eval(() =>
    [...document.querySelectorAll("[data-device]")].map(({ dataset }) => dataset.device),
  );
  for (const name of names) await says(tab, name, "synced");
  const [first, second] = names;

  await apart(tab, names, [
    ["1. Measure", "1. Look"],
    ["4. Ship", "4. Ship it"],
  ]);
  for (const name of names) await offline(tab, name);
  for (const name of names) {
    await holds(tab, name, "1. Look");
    await holds(tab, name, "4. Ship it");
    await says(tab, name, "synced");
  }

  await apart(tab, names, [
    ["2. Build", "2. Buy"],
    ["2. Build", "2. Borrow"],
  ]);
  await offline(tab, first);
  await says(tab, first, "synced");
  await offline(tab, second);
  await says(tab, second, "conflict");
  const lines = await tab.eval(() =>
    [...document.querySelectorAll(".to-settle .diff code")].map(({ textContent }) => textContent),
  );
  for (const line of ["2. Buy", "2. Borrow"]) assert.ok(lines.includes(line), `${lines}`);
  await tab.click(`${box(second)} .to-settle [data-do=both]`);
  for (const name of names) {
    await says(tab, name, "synced");
    await holds(tab, name, "2. Buy");
    await tab.until(
      (of) => /conflict of/.test(document.querySelector(`${of} select`).textContent),
      box(name),
    );
    const copy = await tab.eval(
      (of) =>
        [...document.querySelectorAll(`${of} option`)]
          .map(({ textContent }) => textContent)
          .find((path) => path.includes("conflict of")),
      box(name),
    );
    assert.match(copy, new RegExp(`^/plan \\(conflict of ${second}, .*\\)\\.md$`));
    await tab.choose(`${box(name)} select`, copy);
    await holds(tab, name, "2. Borrow");
  }

  const other = await profile.tab("#/sync");
  await other.until(() => document.querySelectorAll("[data-device]").length === 2);
  const [third] = await other.eval(() =>
    [...document.querySelectorAll("[data-device]")].map(({ dataset }) => dataset.device),
  );
  assert.ok(!names.includes(third), `${third} is a device of both tabs`);
  await says(other, third, "synced");
  assert.match(await text(other, third), /2\. Borrow|2\. Buy|A map/);
  // What is deleted in one tab is gone in the other one.
  await tab.click(`${box(first)} [data-do=delete]`);
  await other.until(
    (of) => !/conflict of/.test(document.querySelector(`${of} select`).textContent),
    box(third),
  );
  await other.close();
}
