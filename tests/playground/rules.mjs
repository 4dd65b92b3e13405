// The view of the rules while they are typed: mistakes at their line, results of earlier rules, names.

import { strict as assert } from "node:assert";
import { finish, retype, states, view } from "./steps.mjs";

const inForce = (tab) =>
  tab.until(() => document.querySelector(".rules-bar [data-state]")?.dataset.state === "force");

async function open(tab) {
  await view(tab, "#/rules");
  await tab.until(() => document.querySelector(".attempts li"));
  // A test that failed may have left a mistake.
  const bad = await tab.eval(() => document.querySelector(".rules-bar [data-state=bad]") !== null);
  if (bad) await startOver(tab);
  await tab.until(() => document.querySelector('.attempts[data-stale="false"]'));
}

async function startOver(tab) {
  await tab.click(".rules-bar button");
  await tab.until(() => /own rules/.test(document.querySelector(".cm-content").textContent));
  await inForce(tab);
  await tab.until(() => document.querySelector('.attempts[data-stale="false"]'));
}

/** Code with a mistake, its line, and what is said. */
const MISTAKES = [
  ["export default {\n  readOnly: true,\n  quota: {,\n};\n", 3, /^Line 3: \S/],
  ["export default {\n  permissions: [\n", 3, /^Line 3: \S/],
  [
    "const limit = 5;\n\nexport default { quota: { maxFiles: limt } };\n",
    3,
    /^Line 3: limt is not/,
  ],
  ["export default {\n  readonly: true,\n};\n", undefined, /^(?!Line).*readOnly/],
  ["export const policy = {};\n", undefined, /^The module must have a default export/],
];

/** A mistake is marked at its line and said in a sentence; the rules before stay in force. */
export async function mistakesAreMarked(tab) {
  await open(tab);
  for (const [code, line, words] of MISTAKES) {
    await retype(tab, code);
    await tab.until(
      () => document.querySelector(".rules-bar [data-state]").dataset.state === "bad",
    );
    const said = await tab.eval(() => document.querySelector(".rules-error").textContent);
    assert.match(said, words, code);
    // The editor draws its marks when it next measures itself.
    await tab.until(
      (wanted) =>
        document.querySelectorAll(".cm-gutter-lint .cm-lint-marker-error").length === wanted,
      line === undefined ? 0 : 1,
    );
    const marked = await tab.eval(() => {
      const marks = [...document.querySelectorAll(".cm-gutter-lint .cm-lint-marker-error")];
      const lines = [...document.querySelectorAll(".cm-lineNumbers .cm-gutterElement")];
      return marks.map((mark) => {
        const { top } = mark.closest(".cm-gutterElement").getBoundingClientRect();
        const beside = lines.find(
          (one) =>
            one.style.visibility !== "hidden" &&
            Math.abs(one.getBoundingClientRect().top - top) < 4,
        );
        return Number(beside?.textContent);
      });
    });
    assert.deepEqual(marked, line === undefined ? [] : [line], code);
    // What is shown beside is of the rules that are in force, and says so.
    const beside = await tab.eval(() => ({
      stale: document.querySelector(".attempts").dataset.stale,
      verdict: document.querySelector(".verdict").dataset.stale,
      says: document.querySelector(".rules-side [role=status].muted").textContent,
    }));
    assert.deepEqual([beside.stale, beside.verdict], ["true", "true"], code);
    assert.match(beside.says, /before the mistake/);
  }
  await startOver(tab);
  assert.equal(await tab.eval(() => document.querySelector(".rules-error, .cm-lint-marker")), null);
}

/** Results of the rules before are grey from the first letter until the new ones are there. */
export async function oldResultsAreGrey(tab) {
  await open(tab);
  await tab.eval(() => {
    globalThis.seen = [];
    const look = () => {
      const { stale } = document.querySelector(".attempts").dataset;
      const text = document.querySelector(".attempts").innerText;
      const [last] = globalThis.seen.slice(-1);
      if (last?.stale !== stale || last?.text !== text) globalThis.seen.push({ stale, text });
    };
    look();
    new MutationObserver(look).observe(document.querySelector(".rules-side"), {
      subtree: true,
      childList: true,
      attributes: true,
      characterData: true,
    });
  });
  await retype(tab, "export default { readOnly: true };\n");
  await tab.until(() => document.querySelector('.attempts[data-stale="true"]'));
  const colours = await tab.eval(() =>
    [...document.querySelectorAll(".attempts em, .verdict strong, .rules-side .muted")].map(
      (one) => getComputedStyle(one).color,
    ),
  );
  assert.ok(colours.length > 10);
  assert.equal(new Set(colours).size, 1, `results that are old have ${[...new Set(colours)]}`);
  await tab.until(
    () =>
      document.querySelector('.attempts[data-stale="false"]') &&
      /readOnly/.test(document.querySelector(".attempts").innerText),
  );
  const seen = await tab.eval(() => globalThis.seen);
  const old = seen[0].text;
  for (const { stale, text } of seen.slice(1)) {
    if (text === old) assert.equal(stale, "true", "old results look like new ones");
    else assert.equal(stale, "false", "new results look like old ones");
  }
  await startOver(tab);
}

/** A rule is called by its name, in every view. */
export async function rulesHaveNames(tab) {
  await open(tab);
  const names = () =>
    tab.eval(() => [
      ...new Set([...document.querySelectorAll(".attempts small")].map((one) => one.textContent)),
    ]);
  assert.deepEqual((await names()).sort(), ["data", "own rules", "secrets"]);
  await tab.eval(() => {
    const input = document.querySelector(".tester input");
    input.value = "/work/data/x.csv";
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await tab.until(() =>
    /data decides: ask write/.test(document.querySelector(".verdict").textContent),
  );
}

const ASKS = `export default {
  permissions: [
    { name: "sources", operations: ["write"], paths: ["/work/src/**"], mode: "ask" },
    { name: "notes", operations: ["write"], paths: ["/memories/**", "/work/data/**"], mode: "ask" },
  ],
};
`;

/** What the question shows: the sign and the text of each line. */
const proposed = (tab) =>
  tab.eval(() => ({
    what: document.querySelector(".question strong").textContent,
    rule: document.querySelector(".question a").textContent,
    preview: document.querySelector("pre.proposal")?.textContent,
    heads: [...document.querySelectorAll(".proposal .head")].map((one) => one.textContent),
    lines: [...document.querySelectorAll(".proposal .diff > div:not(.head)")].map(
      (line) => line.querySelector(".sign").textContent + line.querySelector("code").textContent,
    ),
  }));

/** A person who is asked sees what would be written. */
export async function questionsShowChanges(tab, memory) {
  await open(tab);
  await retype(tab, ASKS);
  await inForce(tab);
  await tab.until(() => document.querySelector('.attempts[data-stale="false"]'));
  await view(tab, "#/agent");
  await tab.until(() => document.querySelector(".controls select"));
  await tab.choose(".controls select", "fast");
  await tab.click("[data-do=replay]");
  const questions = [];
  for (let n = 0; n < 4; n++) {
    await tab.until(
      (seen) =>
        document.querySelectorAll(".call").length > seen &&
        document.querySelector(".question strong"),
      n === 0 ? 3 : questions.at(-1).calls,
    );
    const calls = await tab.eval(() => document.querySelectorAll(".call").length);
    questions.push({ ...(await proposed(tab)), calls });
    await tab.click(".question .primary");
  }
  const [wrong, edit, remove, create] = questions;
  // An edit that would fail changes nothing: what was asked for is shown.
  assert.deepEqual(wrong.lines, []);
  assert.match(wrong.preview, /total \+= \$4/);
  assert.equal(edit.what, "The agent wants to edit /work/src/total.sh");
  assert.equal(edit.rule, "sources");
  assert.deepEqual(edit.heads, ["@@ -1,5 +1,5 @@"]);
  assert.deepEqual(edit.lines, [
    " # Revenue of all orders, in cents.",
    " awk -F, '",
    "−  NR > 1 { sum += $4 }",
    "+  NR > 1 { sum += $3 * $4 }",
    "   END { print sum }",
    ' \' "$1"',
  ]);
  assert.equal(remove.what, "The agent wants to delete /work/data/orders-2024.csv");
  assert.deepEqual(remove.lines, ["−id,item,quantity,cents", "−901,tea,1,400"]);
  assert.equal(create.what, "The agent wants to write /memories/orders.md");
  assert.deepEqual(create.heads, [`@@ -0,0 +1,${create.lines.length} @@`]);
  assert.equal(create.lines.map((line) => `${line.slice(1)}\n`).join(""), memory);
  await tab.until(() => document.querySelector(".progress")?.textContent === "Finished");
  await open(tab);
  await startOver(tab);
  await view(tab, "#/agent");
  await tab.click("[data-do=replay]");
  await finish(tab);
  assert.equal((await states(tab)).length, 13);
}
