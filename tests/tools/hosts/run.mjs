// The adapters with the real packages in Chromium and in workerd: the same task as in Node, over
// memory and IndexedDB, or memory and D1, with a policy and a shell.

import { commonNames } from "../cases/tree.mjs";
import { installKitbag } from "../install.mjs";
import { openPage } from "./chromium.mjs";
import { openNodeWorker, openWorker } from "./workerd.mjs";

/** Cases that need none of Node's modules, in a Worker without flags. */
const LIGHT = [
  "createFileTools",
  "anthropic",
  "anthropic, Claude's own tools",
  "openai, Chat Completions",
  "openai, Responses",
  "ai",
  "ai 5",
  "langchain, middleware",
  "langchain, tools alone",
  "mcp",
];

/** Files in a graph; without AsyncLocalStorage the tool's runtime identifies the graph. */
const GRAPH = [
  "langchain, files in the state",
  "langchain, files in the store",
  "langchain, two edits in one step",
];

const BOTH = ["langchain, middleware", "deepagents"];

export async function run(ctx) {
  installKitbag();
  const { check, result } = ctx.checks();
  const inHost = async (host, open, names) => {
    let opened;
    await check(`${host}: bundled and loaded`, async () => {
      opened = await open();
    });
    if (!opened) return;
    const left = {};
    const { play, errors, stop } = opened;
    try {
      for (const name of names) {
        await check(`${host}: ${name}`, async () => {
          const { faults, files } = await play(name);
          if (faults.length > 0) throw new Error(faults.join("\n"));
          left[name] = files;
        });
      }
      if (BOTH.every((name) => names.includes(name))) await compare(check, host, left);
      // Only pages report uncaught errors.
      if (errors) {
        await check(`${host}: nothing was thrown or logged as an error`, () => {
          if (errors.length > 0) throw new Error(errors.join("\n"));
        });
      }
    } finally {
      await stop();
    }
  };
  await inHost("Chromium", openPage, [...LIGHT, ...GRAPH, "deepagents", "shell"]);
  await inHost("workerd", openWorker, [...LIGHT, ...GRAPH, "shell"]);
  await inHost("workerd with nodejs_compat", openNodeWorker, [...BOTH, ...GRAPH]);
  return result;
}

/** Compares the files of `createAgent` and of `createDeepAgent` one by one. */
async function compare(check, host, left) {
  const [one, other] = BOTH.map((name) => commonNames(left[name] ?? {}));
  const paths = new Set([...Object.keys(one), ...Object.keys(other)]);
  await check(`${host}: createAgent and createDeepAgent left files`, () => {
    if (paths.size === 0) throw new Error("neither did");
  });
  for (const path of paths) {
    await check(`${host}: createAgent and createDeepAgent left the same ${path}`, () => {
      if (one[path] !== other[path]) throw new Error(`${one[path]}\nand\n${other[path]}`);
    });
  }
}
