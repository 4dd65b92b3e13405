// The packed package in an empty project, with the packages of sets of `tests/deps` beside it.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { at } from "../../scripts/lib/paths.mjs";
import { pack, unpack } from "./pack.mjs";

/** The packages of a set, with their scopes. */
function packagesOf(set) {
  const folder = at("tests/deps", set, "node_modules");
  const names = readdirSync(folder).filter((name) => !name.startsWith("."));
  return names.flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(folder, name)).map((one) => `${name}/${one}`) : [name],
  );
}

/** Makes the project. `files` are written into it; `root`, `tarball` and `remove` are returned. */
export async function packedProject({ set, files = {} } = {}) {
  const root = mkdtempSync(join(tmpdir(), "kitbag-packed-"));
  const { filename } = await pack(root);
  const home = join(root, "node_modules/kitbag");
  const tarball = join(root, filename);
  await unpack(home);
  for (const one of [set ?? []].flat()) {
    for (const name of packagesOf(one)) {
      // A test may have linked the package there.
      if (name === "kitbag") continue;
      const link = join(root, "node_modules", name);
      // Two sets may have the same package; the first one counts.
      if (existsSync(link)) continue;
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(at("tests/deps", one, "node_modules", name), link, "junction");
    }
  }
  writeFileSync(join(root, "package.json"), '{ "name": "stranger", "private": true }\n');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return {
    root,
    tarball,
    home,
    manifest: JSON.parse(readFileSync(join(home, "package.json"), "utf8")),
    /** Copies a folder of the repository into the project. */
    copy: (from, to) => cpSync(at(from), join(root, to), { recursive: true }),
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** The entries that a program can import, such as `kitbag/slim`; none of single files. */
export function entriesOf({ name, exports }) {
  return Object.keys(exports)
    .filter((key) => !key.includes("*") && !key.endsWith(".json"))
    .map((key) => name + key.slice(1));
}
