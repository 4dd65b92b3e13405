// What the rules of a tool set hide is in no answer of its tools `diff`, `undo` and `commit`, over a turn
// and over a history, also if another tool set, or the program, changed it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, createFileTools, StateBackend } from "kitbag";
import { changeTools, reviewOf, withHistory } from "kitbag/history";
import { ignoreFiles } from "kitbag/ignore";

const SECRET = "hunter2";
const FILES = {
  "/plan.md": "1. Measure\n",
  "/secret/key.txt": `${SECRET}\nstale\n`,
  "/secret/move.txt": `${SECRET}\nmoves away\n`,
  "/open.txt": "open\n",
};
const memory = (files = FILES) => new StateBackend({ scope: "instance", files });

const BASES = {
  "a turn": () => begin(memory(), { by: "agent-7" }),
  "a history": () => withHistory(memory(), { keepIn: { backend: memory({}) }, by: "agent-7" }),
};

const deny = (paths, operations = ["read", "write"]) => [{ operations, paths, mode: "deny" }];
/** Ten ways to hide `/secret`. */
const RULES = {
  "a rule of permissions": { permissions: deny(["/secret/**"]) },
  "a policy": { policy: { permissions: deny(["/secret/**"]) } },
  "a rule for reads only": { permissions: deny(["/secret/**"], ["read"]) },
  "rules for single files": { permissions: deny(["/secret/key.txt", "/secret/*.txt"]) },
  "all but some files": {
    permissions: [
      { operations: ["read", "write"], paths: ["/*.md", "/*.txt"], mode: "allow" },
      { operations: ["read", "write"], paths: ["/**"], mode: "deny" },
    ],
  },
  "a pattern of names": { permissions: deny(["/**/{key,move,new}.txt", "/secret"]) },
  "a question that nobody allows": {
    policy: {
      permissions: [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "ask" }],
      onAsk: () => false,
    },
  },
  "a hook that refuses": {
    policy: {
      hooks: {
        before: (call) => {
          if (JSON.stringify(call).includes("/secret")) throw new Error("no");
        },
      },
    },
  },
  "rules beside ignore files": {
    permissions: deny(["/secret/**"]),
    ignore: ignoreFiles({ files: [".gitignore"] }),
  },
  "a policy with a limit of calls": {
    policy: { permissions: deny(["/secret/**"]), rateLimit: { operations: 1_000, perMs: 60_000 } },
  },
};

/** What another tool set, with every right, changes in `/secret`. */
const CHANGES = [
  ["read_file", { file_path: "/secret/key.txt" }],
  ["edit_file", { file_path: "/secret/key.txt", old_string: "stale", new_string: "fresh" }],
  ["write_file", { file_path: "/secret/new.txt", content: `${SECRET}\n` }],
  ["move_file", { from: "/secret/move.txt", to: "/moved.txt" }],
];

async function setOver(base, options) {
  const files = createFileTools(base, { changes: changeTools(), tools: "all", ...options });
  await files.call("diff", {});
  return files;
}

/** Changes hidden files by the tools of another set; returns the ids of these changes. */
async function others(base) {
  const all = await setOver(base, {});
  const ids = [];
  for (const [name, input] of CHANGES) {
    const { text, isError } = await all.call(name, input);
    assert.equal(isError, false, text);
    ids.push(...[...text.matchAll(/\[change (\S+)\]/g)].map(([, id]) => id));
  }
  assert.equal(ids.length, 3);
  // It shows what it may.
  assert.match((await all.call("diff", {})).text, new RegExp(`\\+fresh[\\s\\S]*${SECRET}`));
  return ids;
}

for (const [over, make] of Object.entries(BASES)) {
  for (const [name, options] of Object.entries(RULES)) {
    test(`${over}, ${name}: no answer shows what is hidden`, async () => {
      const base = make();
      const set = await setOver(base, options);
      const ids = await others(base);
      const wrote = await set.call("append_file", { file_path: "/plan.md", content: "mine\n" });
      assert.equal(wrote.isError, false, wrote.text);
      const answers = [];
      for (const path of [undefined, "/secret", "/secret/key.txt", "secret/new.txt", "/"]) {
        answers.push(await set.call("diff", path === undefined ? {} : { path }));
      }
      for (const change of ids) answers.push(await set.call("undo", { change }));
      for (const { text } of answers) {
        assert.doesNotMatch(text, /secret|stale|fresh|key\.txt|new\.txt/, text);
      }
      assert.match(answers[0].text, /\+mine/);
      // A file that came from there, to where it may be seen, is new.
      assert.match(answers[0].text, /b\/moved\.txt/);
      assert.doesNotMatch(answers[0].text, /rename|from/);
      for (const { text, isError } of answers.slice(5)) {
        assert.equal(isError, true);
        assert.match(text, /There is no change/);
      }
      assert.match((await base.read("/secret/key.txt")).content, /fresh/);
    });
  }

  test(`${over}: without rules an undo of another set's change is as before`, async () => {
    const base = make();
    const [id] = await others(base);
    const set = await setOver(base, {});
    const { text, isError } = await set.call("undo", { change: id });
    assert.equal(isError, over === "a turn", text);
  });

  test(`${over}: a rule that cannot decide gives an error, and no patch that looks whole`, async () => {
    const base = make();
    const set = await setOver(base, { policy: { rateLimit: { operations: 2, perMs: 600_000 } } });
    await others(base);
    await set.call("ls", { path: "/" });
    await set.call("ls", { path: "/" });
    const { text, isError } = await set.call("diff", {});
    assert.equal(isError, true);
    assert.doesNotMatch(text, new RegExp(SECRET));
  });
}

test("a commit of changes that the rules hide is refused, and nobody is asked", async () => {
  const backend = memory();
  const turn = begin(backend);
  await turn.edit("/secret/key.txt", "stale", "fresh");
  let asked = 0;
  const commit = () => {
    asked += 1;
    return { type: "accept" };
  };
  const make = (options) =>
    createFileTools(turn, { changes: changeTools({ commit }), tools: "all", ...options });
  for (const [name, options] of Object.entries(RULES)) {
    const { text, isError } = await make(options).call("commit", {});
    assert.equal(isError, true, name);
    assert.doesNotMatch(text, /secret|key|fresh/);
  }
  assert.equal(asked, 0);
  assert.match(backend.read("/secret/key.txt").content, /stale/);
  assert.equal((await make({}).call("commit", {})).isError, false);
  assert.match(backend.read("/secret/key.txt").content, /fresh/);
});

test("a change that is hidden and comes while a person looks is not committed", async () => {
  const backend = memory();
  const turn = begin(backend);
  await turn.edit("/plan.md", "Measure", "Look");
  const commit = async ({ patch, files }) => {
    assert.deepEqual([files.length, patch.includes(SECRET)], [1, false]);
    await turn.edit("/secret/key.txt", "stale", "fresh");
    return { type: "accept" };
  };
  const set = createFileTools(turn, {
    changes: changeTools({ commit }),
    permissions: deny(["/secret/**"]),
  });
  const { text, isError } = await set.call("commit", {});
  assert.deepEqual([isError, /secret/.test(text)], [true, false]);
  assert.match(backend.read("/plan.md").content, /Measure/);
});

test("a commit that meets changes of others names those that the rules show", async () => {
  const backend = memory();
  const turn = begin(backend);
  await turn.read("/secret/key.txt");
  await turn.read("/open.txt");
  await turn.edit("/plan.md", "Measure", "Look");
  backend.edit("/secret/key.txt", "stale", "others");
  const tools = (options) => createFileTools(turn, { ...options });
  const commit = () => ({ type: "accept" });
  const ruled = tools({ changes: changeTools({ commit }), permissions: deny(["/secret/**"]) });
  const first = await ruled.call("commit", {});
  assert.equal(first.isError, true);
  assert.match(first.text, /others have changed other files/);
  backend.edit("/open.txt", "open", "others");
  const second = await ruled.call("commit", {});
  assert.match(second.text, /others have changed \/open\.txt meanwhile|Committed/);
  assert.doesNotMatch(first.text + second.text, /secret|key/);
});

test("a review of a whole turn stays the program's: it shows everything", async () => {
  const turn = begin(memory());
  await turn.edit("/secret/key.txt", "stale", "fresh");
  assert.match((await reviewOf(turn)).patch, /fresh/);
});
