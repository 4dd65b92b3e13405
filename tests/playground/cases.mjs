// What holds in every browser.

import { strict as assert } from "node:assert";
import { expected, paths } from "./expected.mjs";
import { archive, finish, retype, states, view } from "./steps.mjs";

/** The scripted agent, and what it leaves. */
export async function agentFinishes(tab) {
  await finish(tab);
  const seen = await states(tab);
  assert.deepEqual(
    seen.filter(([, state]) => state !== "ok"),
    [
      ["execute", "failed"],
      ["edit_file", "failed"],
      ["write_file", "refused"],
    ],
  );
  assert.equal(seen.length, 13);
  const files = await archive(tab);
  assert.deepEqual(Object.keys(files).sort(), paths);
  for (const [path, text] of Object.entries(expected)) assert.equal(files[path], text, path);
}

export async function refusalIsSeen(tab) {
  await view(tab, "#/agent");
  await tab.until(() => document.querySelector('.call[data-state="refused"]'));
  const text = await tab.eval(
    () => document.querySelector('.call[data-state="refused"]').innerText,
  );
  assert.match(text, /permission denied for write on \/policies\/allow-all\.js/);
  assert.match(text, /own rules: deny write \/policies\/\*\*/);
}

export async function reloadKeeps(tab) {
  await tab.reload();
  await tab.until(() => document.querySelector(".notice"));
  const notice = await tab.eval(() => document.querySelector(".notice").innerText);
  assert.match(notice, /6 files in memory.*1 file in IndexedDB.*2 files in OPFS/);
  assert.deepEqual(await states(tab), []);
  const files = await archive(tab);
  assert.deepEqual(Object.keys(files).sort(), paths);
  for (const [path, text] of Object.entries(expected)) assert.equal(files[path], text, path);
}

/** Both tabs raise one counter a hundred times at the same moment. */
export async function twoTabsCount(profile, tab) {
  const other = await profile.tab("#/files");
  await view(tab, "#/files");
  for (const one of [tab, other]) {
    await one.until(() => document.querySelector("[data-do=raise-100]"));
  }
  await Promise.all(
    [tab, other].map((one) =>
      one.eval(() => document.querySelector("[data-do=raise-100]").click()),
    ),
  );
  for (const one of [tab, other]) {
    await one.until(() => document.querySelector("[data-counter]").dataset.counter === "200");
  }
  // The second tab has found the files of the first, and has started no run over them.
  const rows = await other.eval(() =>
    [...document.querySelectorAll(".tree .row")].map((row) => row.dataset.path),
  );
  for (const path of ["/memories/orders.md", "/files/report.md", "/work/README.md"]) {
    assert.ok(rows.includes(path), `${path} is not in the second tab: ${rows}`);
  }
  const tallies = await tab.eval(() => document.querySelector(".tallies").innerText);
  const raised = [...tallies.matchAll(/tab\w* ?\w* (\d+)/g)].map(([, count]) => Number(count));
  assert.deepEqual(raised, [100, 100], tallies);
  assert.match(tallies, /lost 0/);
  await tab.until(() => /other tab/.test(document.querySelector(".health").textContent));
  await other.close();
}

/** The parts of the turn: the head of each, then number, sign and text of its lines. */
const PARTS = [
  [
    "Part 1 of /README.md is taken",
    [
      "@@ -1,3 +1,3 @@",
      "1 # orders",
      "2",
      "3 − `bash src/total.sh data/orders.csv` prints the sum of the prices.",
      "3 + `bash src/total.sh data/orders.csv` prints the revenue: quantity times price.",
    ],
  ],
  [
    "Part 1 of /src/total.sh is taken",
    [
      "@@ -1,9 +1,4 @@",
      "1 # Revenue of all orders, in cents.",
      '2 − if [ ! -s "$1" ]; then',
      '3 − echo "no orders in $1" >&2',
      "4 − exit 1",
      "5 − fi",
      "6 −",
      "2 awk -F, '",
      "3 NR == 1 { next }",
      "4 NF != 4 { bad += 1; next }",
    ],
  ],
  [
    "Part 2 of /src/total.sh is taken",
    [
      "@@ -7,7 +2,7 @@",
      "2 awk -F, '",
      "3 NR == 1 { next }",
      "4 NF != 4 { bad += 1; next }",
      "10 − { sum += $4 }",
      "5 + { sum += $3 * $4 }",
      "6 END {",
      '7 if (bad) print bad " lines skipped" > "/dev/stderr"',
      "8 print sum",
    ],
  ],
];

/** A person leaves out one of three parts, commits the others, and takes the commit back. */
export async function turnIsReviewed(tab) {
  await view(tab, "#/review");
  await tab.until(() => document.querySelectorAll("[data-now]").length === 2);
  const held = () =>
    tab.eval(() =>
      [...document.querySelectorAll("[data-now]")].map((file) => [
        file.dataset.now,
        file.querySelector("pre").textContent,
      ]),
    );
  const before = await held();
  await tab.click("[data-do=work]");
  await tab.until(() => document.querySelectorAll(".part").length === 3);
  const parts = await tab.eval(() =>
    [...document.querySelectorAll(".part")].map((part) => [
      part.querySelector("label").textContent,
      [...part.querySelectorAll(".diff > div")].map((line) =>
        [...line.childNodes]
          .map((part) => part.textContent.trim())
          .filter(Boolean)
          .join(" "),
      ),
    ]),
  );
  assert.deepEqual(parts, PARTS);
  await tab.eval(() => document.querySelectorAll(".part input")[1].click());
  await tab.until(() =>
    /Commit 2 of 3 parts/.test(document.querySelector("[data-do=commit]").textContent),
  );
  await tab.click("[data-do=commit]");
  await tab.until(() => /2 files changed/.test(document.querySelector(".progress").textContent));
  const after = await held();
  const [readme, script] = ["/README.md", "/src/total.sh"].map((path) =>
    [before, after].map((files) => files.find(([name]) => name === path)[1]),
  );
  assert.equal(
    readme[1],
    readme[0].replace("the sum of the prices", "the revenue: quantity times price"),
  );
  assert.equal(script[1], script[0].replace("sum += $4", "sum += $3 * $4"));
  await tab.click("[data-do=undo]");
  await tab.until(() => /^Undone/.test(document.querySelector(".progress").textContent));
  assert.deepEqual(await held(), before);
  // What is rejected changes nothing.
  await tab.click("[data-do=work]");
  await tab.until(() => document.querySelectorAll(".part").length === 3);
  await tab.click("[data-do=reject]");
  await tab.until(() => /^Rejected/.test(document.querySelector(".progress").textContent));
  assert.deepEqual(await held(), before);
  // After a commit the agent can begin anew, with the files as they were at first.
  await tab.click("[data-do=work]");
  await tab.until(() => document.querySelectorAll(".part").length === 3);
  await tab.click("[data-do=commit]");
  await tab.until(() => /^Committed/.test(document.querySelector(".progress").textContent));
  // Widths and accessibility are checked later with the parts in sight.
  await tab.click("[data-do=work]");
  await tab.until(() => document.querySelectorAll(".part").length === 3);
}

const STRICT = `export default {
  permissions: [
    { operations: ["write"], paths: ["/files/**"], mode: "deny" },
  ],
};
`;

export async function changedRuleRefuses(tab) {
  await view(tab, "#/rules");
  await tab.until(() => document.querySelector(".attempts li"));
  await retype(tab, STRICT);
  await tab.until(() =>
    [...document.querySelectorAll(".attempts li")].some((li) =>
      /\/files\/report\.md\s+permissions\[0\]\s+done refused/.test(li.innerText),
    ),
  );
  await tab.eval(() => {
    const input = document.querySelector(".tester input");
    input.value = "/files/x";
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await tab.until(() =>
    /permissions\[0\] decides: deny write \/files/.test(
      document.querySelector(".verdict").textContent,
    ),
  );
  await view(tab, "#/agent");
  await tab.until(() => document.querySelector(".controls select"));
  await tab.choose(".controls select", "fast");
  await tab.click("[data-do=replay]");
  await tab.until(() => document.querySelector(".progress")?.textContent === "Finished");
  const refused = await tab.eval(() =>
    [...document.querySelectorAll('.call[data-state="refused"]')].map((call) => call.innerText),
  );
  // The mount of the rules is read-only by itself.
  assert.equal(refused.length, 3);
  assert.match(refused[0], /the mount itself is read-only/);
  assert.match(refused[1], /permissions\[0\]: deny write \/files/);
  await view(tab, "#/rules");
  await tab.click(".rules-bar button");
  await tab.until(() => /ask/.test(document.querySelector(".cm-content").textContent));
  await tab.until(() => document.querySelector(".rules-bar span").dataset.state === "force");
}

/** Names of rules and their values are offered while a policy is typed. */
export async function rulesAreCompleted(tab) {
  await view(tab, "#/rules");
  await tab.until(() => document.querySelector(".cm-content"));
  await retype(tab, "export default {\n  ");
  const choose = async (typed, wanted) => {
    await tab.type(typed);
    await tab.until(
      (label) =>
        document.querySelector(".cm-tooltip-autocomplete [aria-selected]")?.textContent === label,
      wanted,
    );
    await tab.click(".cm-tooltip-autocomplete [aria-selected]");
  };
  await choose("perm", "permissions");
  await tab.until(() => /permissions: \[/.test(document.querySelector(".cm-content").textContent));
  await retype(tab, "export default {\n  ");
  await choose("defa", "defaultMode");
  await tab.until(() =>
    /defaultMode: "deny"/.test(document.querySelector(".cm-content").innerText),
  );
  await tab.click(".rules-bar button");
  await tab.until(() => document.querySelector(".rules-bar span").dataset.state === "force");
}

export async function pipelineRuns(tab) {
  await view(tab, "#/shell");
  await tab.until(() => document.querySelector("[data-ready]"));
  await tab.click(".xterm-screen");
  await tab.type("printf 'pear\\napple\\n' | sort | tr a-z A-Z > /memories/fruit.txt");
  await tab.press("Enter");
  await tab.type("cd /memories");
  await tab.press("Enter");
  await tab.type("cat fruit.txt | head -1");
  await tab.press("Enter");
  await tab.until(() => /^APPLE/m.test(document.querySelector(".xterm-accessibility").innerText));
  const files = await archive(tab);
  assert.equal(files["/memories/fruit.txt"], "APPLE\nPEAR\n");
}

/** Commands that fail print to standard error; the next prompt is where it was. */
export async function failuresKeepThePlace(tab) {
  await view(tab, "#/shell");
  await tab.until(() => document.querySelector("[data-ready]"));
  await tab.click(".xterm-screen");
  // The last one is still in sight in a low window.
  const failing = ["ls nowhere", "echo out; echo err >&2", "exit 3", "cd /nowhere", "foo"];
  for (const command of ["cd /work/src", ...failing, "pwd | sed s/^/now=/"]) {
    await tab.type(command);
    await tab.press("Enter");
  }
  // The lines alone: a screen reader is read besides what came since the last key, of any age.
  await tab.until(() =>
    /^now=/m.test(document.querySelector(".xterm-accessibility-tree").innerText),
  );
  const text = await tab.eval(() => document.querySelector(".xterm-accessibility-tree").innerText);
  assert.match(text, /^now=\/work\/src$/m);
  assert.match(text, /bash: foo: command not found/);
  const prompts = [...text.matchAll(/^(\/\S*) \$ /gm)].map(([, place]) => place);
  assert.ok(prompts.length >= 3, text);
  for (const place of prompts.slice(-3)) assert.equal(place, "/work/src", text);
}

/** The link of each view leads to a page of the documentation, not to its Markdown. */
export async function readMoreOpens(tab) {
  for (const name of ["agent", "files", "rules", "shell", "model"]) {
    await view(tab, `#/${name}`);
    await tab.until(() => document.querySelector(".code a[href*='docs/']"));
    const page = await tab.eval(async () => {
      const { href } = document.querySelector(".code a[href*='docs/']");
      const response = await fetch(href);
      return { href, status: response.status, text: await response.text() };
    });
    assert.equal(page.status, 200, page.href);
    assert.match(page.text, /<h1 id="/, page.href);
    assert.doesNotMatch(page.text, /white-space:pre-wrap/);
  }
}

/** How often is measured: what else the machine does can fall on one of the contenders. */
const ATTEMPTS = 3;

/**
 * Gives the figures of every task; `choice` is a number of files. Answers are always equal, and kitbag is ahead in all
 * tasks of one attempt.
 */
export async function speedIsAhead(tab, choice = "1,000") {
  const behind = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const tasks = await measuredTasks(tab, choice);
    const slow = tasks.filter(({ ms }) => ms.kitbag >= Math.min(ms.deepagents, ms.zenfs));
    if (slow.length === 0) return tasks;
    behind.push(...slow.map(({ task, ms }) => `${task}: ${JSON.stringify(ms)}`));
  }
  throw new assert.AssertionError({ message: behind.join("\n") });
}

async function measuredTasks(tab, choice) {
  await view(tab, "#/speed");
  await tab.until(() => document.querySelector("[data-do=measure]"));
  await tab.eval((wanted) => {
    const all = [...document.querySelectorAll(".controls .segments button")];
    all.find(({ textContent }) => textContent === wanted).click();
  }, choice);
  await tab.click("[data-do=measure]");
  await tab.until(
    () => /done|failed/.test(document.querySelector(".progress").dataset.state),
    undefined,
    300_000,
  );
  const tasks = await tab.eval(() =>
    [...document.querySelectorAll(".task")].map((task) => ({
      task: task.dataset.task,
      equal: task.dataset.equal,
      ms: Object.fromEntries(
        [...task.querySelectorAll("[data-engine]")].map((row) => [
          row.dataset.engine,
          Number(row.dataset.ms),
        ]),
      ),
    })),
  );
  assert.deepEqual(
    tasks.map(({ task }) => task),
    ["grep", "glob", "pages", "longer", "shorter"],
  );
  for (const { task, equal } of tasks) assert.equal(equal, "true", `${task}: the answers differ`);
  return tasks;
}
