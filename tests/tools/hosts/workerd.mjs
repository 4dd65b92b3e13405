// The drivers in workerd.

import { at } from "../../../scripts/lib/paths.mjs";
import { workerModules } from "../../lib/bundle.mjs";
import { startWorker } from "../../lib/workerd.mjs";
import { withoutBuiltins, workersBuiltins } from "./builtins.mjs";
import { frameworks } from "./frameworks.mjs";

const hosts = at("tests/tools/hosts");

async function open(entry, bundling, flags) {
  const source = `export { default } from "./${entry}"`;
  const modules = await workerModules(source, hosts, bundling);
  const worker = await startWorker(modules, { d1Databases: ["DB"], compatibilityFlags: flags });
  return {
    stop: worker.stop,
    async play(name) {
      const { status, text } = await worker.fetch(`/${encodeURIComponent(name)}`);
      if (status !== 200) throw new Error(text);
      return JSON.parse(text);
    },
  };
}

/** A Worker without flags, and so without anything of Node's. */
export const openWorker = () =>
  open("in-worker.mjs", { plugins: [frameworks, withoutBuiltins] }, []);

/** A Worker with `nodejs_compat`. */
export const openNodeWorker = () =>
  open("in-node-worker.mjs", { plugins: [frameworks, workersBuiltins] }, ["nodejs_compat"]);
