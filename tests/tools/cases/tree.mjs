// The tree that the task is done in: memory, another backend mounted at `/notes/`, a policy round
// both, and a shell over all. kitbag is handed in, since each host loads it in its own way.

import { PICTURE_BYTES } from "./material.mjs";

const POLICY = {
  readOnlyPrefixes: ["/protected"],
  permissions: [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }],
};

const bytes = (text) => new TextEncoder().encode(text);

/** `{ backend, open }`: what agents get, and the same files without policy and shell. */
export async function makeTree({ StateBackend, CompositeBackend, withPolicy, withBash }, mounted) {
  // Files of its own: they are looked at outside of the graphs that change them.
  const open = new CompositeBackend(new StateBackend({ files: {} }), { "/notes/": mounted });
  const answers = await open.uploadFiles([
    ["/pictures/dot.png", PICTURE_BYTES],
    ["/protected/kept.txt", bytes("kept\n")],
    ["/secret/key.txt", bytes("TOP-SECRET\n")],
  ]);
  for (const { path, error } of answers) if (error) throw new Error(`${path}: ${error}`);
  return { backend: withBash(withPolicy(open, POLICY)), open };
}

const asText = (body) => {
  let text = "";
  for (let at = 0; at < body.length; at += 8192)
    text += String.fromCharCode(...body.subarray(at, at + 8192));
  return text;
};

/** Every file by path, its bytes as a text of one letter each. */
export async function filesOf(backend) {
  const { files, error } = await backend.glob("**", "/");
  if (error) throw new Error(error);
  const paths = files.map(({ path }) => path).sort();
  const bodies = await backend.downloadFiles(paths);
  return Object.fromEntries(
    bodies.map(({ path, content }) => [path, asText(content ?? bytes("none"))]),
  );
}

/** What differs between files and those expected; a path that ends with `*` stands for one of any name. */
export function differences(files, wanted) {
  const faults = [];
  const left = new Map(Object.entries(files));
  for (const [pattern, body] of Object.entries(wanted)) {
    const stem = pattern.slice(0, -1);
    const fits = (path) => (pattern.endsWith("*") ? path.startsWith(stem) : path === pattern);
    const found = [...left.keys()].filter(fits);
    if (found.length !== 1) faults.push(`${found.length} files are ${pattern}`);
    for (const path of found) {
      if (left.get(path) !== body)
        faults.push(`${path} holds ${JSON.stringify(left.get(path)).slice(0, 200)}`);
      left.delete(path);
    }
  }
  for (const path of left.keys()) faults.push(`${path} should not be there`);
  return faults;
}

/** The same, with one name for the file that each framework calls by a name of its own. */
export const commonNames = (files) =>
  Object.fromEntries(
    Object.entries(files).map(([path, body]) => [
      path.replace(/^\/large_tool_results\/.*/, "/large_tool_results/*"),
      body,
    ]),
  );
