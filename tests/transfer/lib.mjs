// The packed package of the suite's project, and backends that the tests watch.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const home = join(process.env.KITBAG_TEST_PROJECT, "node_modules/kitbag/dist");
const entry = (name) => import(pathToFileURL(join(home, `${name}.js`)).href);

export const {
  adaptBackendProtocol,
  begin,
  CompositeBackend,
  FilesystemBackend,
  SandboxBackend,
  StateBackend,
  withPolicy,
} = await entry("node");
export const { withProvenance } = await entry("provenance");
export const { copyTree, compareTrees, mirror } = await entry("transfer");
export const { ignoreFiles } = await entry("ignore");
export const { toTar, fromTar } = await entry("tar");
export const { toZip, fromZip } = await entry("zip");

/** A package of the project, such as `modern-tar`. */
export const library = (name) => {
  const require = createRequire(join(home, "any.js"));
  return import(pathToFileURL(require.resolve(name)).href);
};

export const bytes = (text) => new TextEncoder().encode(text);

/** A memory of its own. */
export const memory = (files = {}) => new StateBackend({ scope: "instance", files });

/** The contents of a backend by path; text, or bytes. */
export function contents(backend) {
  const files = backend.snapshot().files ?? backend.snapshot();
  return Object.fromEntries(Object.entries(files).map(([path, { content }]) => [path, content]));
}

/** The same backend, which counts its calls and may end some of them by `refuse`. */
export function counted(backend, refuse = () => undefined) {
  const calls = { written: [], read: [], largest: 0 };
  const watched = {
    get capability() {
      return backend.capability;
    },
  };
  for (const name of ["ls", "read", "readRaw", "grep", "glob", "edit", "delete"]) {
    watched[name] = (...args) => backend[name](...args);
  }
  watched.write = async (path, ...rest) => {
    const refused = refuse(path);
    if (refused) return refused;
    calls.written.push(path);
    return backend.write(path, ...rest);
  };
  watched.uploadFiles = async (files, ...rest) => {
    calls.written.push(...files.map(([path]) => path));
    return backend.uploadFiles(files, ...rest);
  };
  watched.downloadFiles = async (paths, ...rest) => {
    const answers = await backend.downloadFiles(paths, ...rest);
    calls.read.push(...paths);
    const sum = answers.reduce((all, { content }) => all + (content?.length ?? 0), 0);
    calls.largest = Math.max(calls.largest, sum);
    return answers;
  };
  return { watched, calls };
}
