// What the features are shown with.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { at } from "../../../scripts/lib/paths.mjs";
import * as deepagents from "../../deps/latest/deepagents.mjs";
import * as kitbag from "../../lib/kitbag.mjs";
import { answersOf, scriptedModels } from "../../lib/model.mjs";

export { deepagents, kitbag };

/** A test of another file, by its name as it is written there. */
export const shownBy = (file, words) => ({ file, words });
/** An example of `examples.ts`. */
export const example = (name) => ({ example: name });
/** A heading of a page, `docs/PAGE.md#HEADING`. */
export const page = (name, heading) => ({ page: name, heading });
/** It is otherwise here, as a page says. `show` is a test of what it is. */
export const differs = (because, where, show) => ({ because, where, show });

/** The tools over files in memory: `call` returns the text for a model. */
export function toolsOver(files, options, backend = new kitbag.StateBackend({ files })) {
  const set = kitbag.createFileTools(backend, options);
  const call = async (name, input, given) =>
    (await set.call(name, input, { callId: "c", ...given })).text;
  return { set, call, backend };
}

const quiet = () => ({ output: "", exitCode: 0, truncated: false });

/** Files whose commands are a function. */
export function shellOver(execute = quiet, files = {}) {
  const inner = new kitbag.StateBackend({ files });
  const object = { id: "shell", execute };
  for (const name of ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"]) {
    object[name] = (...args) => inner[name](...args);
  }
  return object;
}

/** Does `work` in a folder that is gone afterwards. */
export async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "kitbag-features-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ScriptedModel = scriptedModels(deepagents);

/** An agent of deepagents with these turns. */
export const agentOf = (backend, turns, options) =>
  deepagents.createDeepAgent({
    model: new ScriptedModel(typeof turns === "function" ? turns : () => turns),
    ...(backend === undefined ? {} : { backend }),
    ...options,
  });

/** The state after a message, and what the tools answered. */
export async function asked(agent, config, text = "go") {
  const state = await agent.invoke({ messages: [{ role: "user", content: text }] }, config);
  return { state, answers: answersOf(state) };
}

/** What a program prints to standard error, and its result. */
export function warnings(program) {
  const names = "StateBackend, StoreBackend, CompositeBackend, createFileTools";
  const source = `import { ${names} } from ${JSON.stringify(at("pkg/dist/node.js"))};
    const kept = [];
    const store = { get: () => null, put: (namespace) => kept.push(namespace.join("/")),
      delete() {}, search: () => [] };
    ${program}
    console.log(kept.join(" "));`;
  const done = spawnSync(process.execPath, ["--input-type=module", "-e", source], {
    encoding: "utf8",
  });
  if (done.status !== 0) throw new Error(done.stderr);
  return { warned: done.stderr.trim().split("\n").filter(Boolean), said: done.stdout.trim() };
}

/** A repository of the Hub that keeps its commits. */
export function hub(repos = {}) {
  const seen = { pulls: 0, pushes: [], stale: 0 };
  const client = {
    async pullAgent(identifier) {
      seen.pulls += 1;
      const repo = repos[identifier];
      if (!repo) throw Object.assign(new Error("not found"), { status: 404 });
      return { commit_hash: repo.commit, files: { ...repo.files } };
    },
    async pushAgent(identifier, { files, parentCommit }) {
      const before = repos[identifier] ?? { commit: undefined, files: {} };
      if (before.commit !== parentCommit) {
        seen.stale += 1;
        throw Object.assign(new Error("stale parent"), { status: 409 });
      }
      seen.pushes.push({ parentCommit, files });
      const commit = `c${seen.pushes.length}`.padEnd(8, "0");
      const all = { ...before.files, ...files };
      for (const [path, entry] of Object.entries(all)) if (entry === null) delete all[path];
      repos[identifier] = { commit, files: all };
      return `https://hub.test/${identifier}:${commit}`;
    },
  };
  return { client, seen, repos };
}
