// `npm run release -- --dry-run`: builds the package, checks everything that a release must fulfil,
// and prints what would be published. Without `--dry-run` the work tree must also be clean and the
// checks of `.ci/run` must have passed for the commit; with `--yes` the package is then published.
// `--no-provenance` is for the first version, which nobody but a person can publish: npm signs only what a
// workflow publishes, and trusts a workflow only for a package that exists.
//
// `--tag NAME` says that the commit has this tag, which must be that of the version; `--pack FOLDER`
// leaves the tarball there instead, for the workflow that publishes it (`.github/workflows/publish.yml`).
//
// `--repository URL`, `--homepage URL` and `--bugs URL` name the project's places. Without them they
// follow from the git remote `origin`.

import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { commitOf, state } from "./lib/checked.mjs";
import { must, run } from "./lib/exec.mjs";
import { at } from "./lib/paths.mjs";
import * as rules from "./lib/release.mjs";
import { ensureAll } from "./setup.mjs";

await ensureAll(["npm"]);
// It needs a package of npm.
const { workflow } = await import("./lib/workflow.mjs");

const { values: given } = parseArgs({
  options: {
    "dry-run": { type: "boolean", default: false },
    yes: { type: "boolean", default: false },
    "no-provenance": { type: "boolean", default: false },
    tag: { type: "string" },
    pack: { type: "string" },
    repository: { type: "string" },
    homepage: { type: "string" },
    bugs: { type: "string" },
  },
});

const text = (file) => readFileSync(at(file), "utf8");

function git(...args) {
  try {
    return execFileSync("git", args, {
      cwd: at(),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return "";
  }
}

/** The pages of the package, whose links have to lead somewhere from npm as well. */
const PAGES = ["README.md", "llms.txt", "skills/kitbag/SKILL.md"];

/** The text of a file, or undefined. */
const kept = (file) => (existsSync(file) ? readFileSync(file, "utf8") : undefined);

/** A copy of the built package with the fields and links that are known only now. */
function staged(folder) {
  cpSync(at("pkg"), folder, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const repository = given.repository ?? (git("remote", "get-url", "origin").trim() || undefined);
  const { version, ...rest } = manifest;
  const whole = { ...rules.places({ ...given, repository }), ...rest, version };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(whole, undefined, 2)}\n`);
  const packed = readdirSync(folder, { recursive: true }).map(String);
  for (const name of PAGES) {
    const file = join(folder, name);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, rules.published(text, { name, repository, version, packed }));
  }
  return whole;
}

/** Which files there are how many of, and how large they are. */
function summary(files) {
  const kinds = new Map();
  for (const { path, size } of files) {
    const kind = /\.d\.c?ts$/.test(path) ? "declarations" : (/\.(\w+)$/.exec(path)?.[1] ?? path);
    const [count = 0, bytes = 0] = kinds.get(kind) ?? [];
    kinds.set(kind, [count + 1, bytes + size]);
  }
  return [...kinds].map(([kind, [count, bytes]]) => `  ${kind}: ${count} files, ${kb(bytes)}`);
}

const kb = (bytes) => `${(bytes / 1000).toFixed(0)} KB`;

async function checker(name, args) {
  const { code, output } = await run(at("tests/deps/declarations/node_modules/.bin", name), args);
  return code === 0 ? [] : [`${name}: ${output.trim()}`];
}

await ensureAll(["build", "npm:declarations"]);
const home = mkdtempSync(join(tmpdir(), "kitbag-release-"));
try {
  const folder = join(home, "package");
  const manifest = staged(folder);
  const packed = await must("npm", ["pack", "--json", "--pack-destination", home], { cwd: folder });
  const [report] = Object.values(JSON.parse(packed.slice(packed.search(/^[[{]/m))));
  const tarball = join(home, report.filename);
  const crate = /^version = "(.+)"/m.exec(text("Cargo.toml"))?.[1];
  const results = {
    contents: rules.contents(
      report.files.map(({ path }) => path),
      manifest,
    ),
    size: rules.size(report.size),
    version: rules.version({
      crate,
      lock: /name = "kitbag"\nversion = "(.+)"/.exec(text("Cargo.lock"))?.[1],
      manifest: manifest.version,
      tags: git("tag").split("\n"),
      tag: given.tag,
    }),
    changelog: rules.changelog(text("CHANGELOG.md"), crate),
    fields: rules.fields(manifest),
    types: await checker("attw", [tarball, "--format", "ascii"]),
    links: rules.links(
      Object.fromEntries(PAGES.map((name) => [name, readFileSync(join(folder, name), "utf8")])),
      report.files.map(({ path }) => path),
      {
        base: rules.baseOf(manifest.repository?.url, manifest.version),
        text: (file) => kept(at(file)),
      },
    ),
    workflow: workflow(kept(at(".github/workflows/publish.yml"))),
    publint: await checker("publint", ["run", tarball, "--strict"]),
    checks: given["dry-run"] ? [] : rules.checks(state(), commitOf),
  };
  console.log(`${manifest.name} ${manifest.version}`);
  console.log(`  tarball: ${kb(report.size)}, unpacked ${kb(report.unpackedSize)}`);
  for (const line of summary(report.files)) console.log(line);
  for (const name of [
    "homepage",
    "repository",
    "bugs",
    "license",
    "keywords",
    "sideEffects",
    "publishConfig",
  ]) {
    console.log(`  ${name}: ${JSON.stringify(manifest[name])}`);
  }
  console.log(`  exports: ${Object.keys(manifest.exports).join(", ")}`);
  for (const [name, wrong] of Object.entries(results)) {
    const skipped = name === "checks" && given["dry-run"];
    console.log(`${wrong.length > 0 ? "FAIL" : skipped ? "skip" : "ok  "} ${name}`);
    for (const line of wrong) console.log(`     ${line}`);
  }
  const failed = Object.values(results).flat().length;
  if (failed > 0) {
    console.error(
      `release: ${failed} ${failed === 1 ? "thing is" : "things are"} missing; nothing was published`,
    );
    process.exitCode = 1;
  } else if (given["dry-run"]) {
    console.log("release: this would be published; nothing was");
  } else if (given.pack) {
    mkdirSync(resolve(given.pack), { recursive: true });
    cpSync(tarball, join(resolve(given.pack), report.filename));
    console.log(
      `release: everything holds; ${join(given.pack, report.filename)} is to be published`,
    );
  } else if (given.yes) {
    const unsigned = given["no-provenance"] ? ["--no-provenance"] : [];
    await must("npm", ["publish", tarball, ...unsigned], { show: true });
  } else {
    console.log("release: everything holds; add --yes to publish");
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
