// The package as `npm pack` makes it. It is packed once for each state of `pkg/`: dozens of tests want it, and
// packing takes most of a second of a processor.

import { createHash, randomUUID } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { must } from "../../scripts/lib/exec.mjs";
import { at, cache } from "../../scripts/lib/paths.mjs";

/** What tells one state of the package from another one: its files with their sizes and times. */
function stateOf(folder) {
  const state = createHash("sha256");
  const names = readdirSync(folder, { recursive: true }).sort();
  for (const name of names) {
    const { size, mtimeMs, mode } = statSync(join(folder, name));
    state.update(`${name} ${size} ${mtimeMs} ${mode}\n`);
  }
  return state.digest("hex").slice(0, 16);
}

/** npm's report about a tarball that it wrote into a folder. */
async function packInto(folder, from) {
  mkdirSync(folder, { recursive: true });
  const printed = await must("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: from,
  });
  const [report] = Object.values(JSON.parse(printed.slice(printed.search(/^[[{]/m))));
  return report;
}

/** Removes what was packed hours ago: nobody reads it any more. */
function forgetOld(all) {
  if (!existsSync(all)) return;
  for (const name of readdirSync(all)) {
    const old = join(all, name);
    const { mtimeMs } = statSync(old, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    if (mtimeMs < Date.now() - 4 * 3_600_000) rmSync(old, { recursive: true, force: true });
  }
}

/** The folder with the tarball and npm's report about it. */
async function packedOnce() {
  const all = cache("packed");
  const home = join(all, stateOf(at("pkg")));
  if (existsSync(home)) return home;
  // Others may do the same: the first one counts, and nobody sees half of it.
  const making = join(all, randomUUID());
  forgetOld(all);
  const report = await packInto(making, at("pkg"));
  writeFileSync(join(making, "report.json"), JSON.stringify(report));
  try {
    renameSync(making, home);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(home)) throw error;
  }
  return home;
}

/** Packs `pkg/` into a folder; returns npm's report: `filename`, `files`, `size`, `unpackedSize`. */
export async function pack(folder) {
  const home = await packedOnce();
  const report = JSON.parse(readFileSync(join(home, "report.json"), "utf8"));
  copyFileSync(join(home, report.filename), join(folder, report.filename));
  return report;
}

/** Packs `pkg/`, and unpacks it into a folder; returns the path of the tarball. */
export async function unpack(folder) {
  const home = await packedOnce();
  const { filename } = JSON.parse(readFileSync(join(home, "report.json"), "utf8"));
  mkdirSync(folder, { recursive: true });
  await must("tar", ["-xzf", join(home, filename), "-C", folder, "--strip-components=1"]);
  return join(home, filename);
}
