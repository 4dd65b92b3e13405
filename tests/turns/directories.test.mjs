// A turn that stores a file where a directory is, or below a file: its commit is refused and leaves nothing,
// and whoever commits next does not wait. So does what was broken off before a directory was made in its way.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { folder } from "../fs/lib.mjs";
import * as kitbag from "../lib/kitbag.mjs";

const { begin, CompositeBackend, FilesystemBackend, StateBackend, withPolicy } = kitbag;

const run = promisify(execFile);
const files = (rootDir, options) =>
  new FilesystemBackend({ rootDir, writeMode: "overwrite", ...options });
const journalIn = (rootDir) => existsSync(join(rootDir, ".kitbag/turns/journal"));

/** What is in the way, and the path of the file that cannot be. */
const WAYS = {
  "a directory with files": [
    (root) => {
      mkdirSync(join(root, "d"));
      writeFileSync(join(root, "d/k"), "k");
    },
    "/d",
  ],
  "an empty directory": [(root) => mkdirSync(join(root, "d")), "/d"],
  "a directory deep in the tree": [
    (root) => mkdirSync(join(root, "a/b/c"), { recursive: true }),
    "/a/b",
  ],
  "a link to a directory": [
    (root) => {
      mkdirSync(join(root, "d"));
      symlinkSync("d", join(root, "l"));
    },
    "/l",
  ],
  "a file above": [(root) => writeFileSync(join(root, "f"), "f"), "/f/x"],
};

/** The backends of a folder. */
const SUBJECTS = {
  "a folder": (root) => files(root),
  "rules that hide it": (root) =>
    withPolicy(files(root), {
      permissions: [{ operations: ["read"], paths: ["/d/k", "/a/b/c/**"], mode: "deny" }],
    }),
  "a mount": (root) => new CompositeBackend(new StateBackend(), { "/m/": files(root) }),
};

for (const [what, make] of Object.entries(SUBJECTS)) {
  describe(what, () => {
    for (const [way, [plant, path]] of Object.entries(WAYS)) {
      test(`${way}: the commit is refused, and the next one is made at once`, async (t) => {
        const root = folder(t);
        plant(root);
        const before = readdirSync(root).filter((name) => name !== ".kitbag");
        const backend = make(root);
        const at = (name) => (what === "a mount" ? `/m${name}` : name);
        const turn = await begin(backend);
        await turn.write(at("/other"), "1");
        // Where rules see no link, the call itself is refused.
        const written = await turn.write(at(path), "x");
        const refused = written.error === undefined ? await turn.commit() : written;
        assert.ok(refused.error ?? refused.conflicts?.length, JSON.stringify(refused));
        const now = () => readdirSync(root).filter((name) => name !== ".kitbag");
        if (what !== "a mount") {
          assert.deepEqual(now(), before);
          assert.ok(!journalIn(root));
        }
        const began = performance.now();
        const next = await begin(backend);
        await next.write(at("/next"), "2");
        const made = await next.commit();
        assert.equal(made.error, undefined, JSON.stringify(made));
        assert.ok(performance.now() - began < 5000);
        assert.equal(fs.readFileSync(join(root, "next"), "utf8"), "2");
      });
    }
  });
}

/** A commit of two files that cannot be finished, nor be taken back. */
async function brokenOff(root) {
  const broken = (name) => () => Promise.reject(Object.assign(new Error(name), { code: "EIO" }));
  let fails = false;
  const { promises } = fs;
  const failing = Object.fromEntries(
    Object.entries(promises).map(([name, call]) => [
      name,
      typeof call !== "function"
        ? call
        : (...args) =>
            fails && /\/(a|b)$/.test(args.at(name === "open" ? 0 : -1))
              ? broken(name)()
              : call(...args),
    ]),
  );
  let links = 0;
  failing.constants = fs.constants;
  failing.link = (from, to) => {
    if (/\/b$/.test(to)) {
      fails = true;
      return broken("link")();
    }
    links += 1;
    return promises.link(from, to);
  };
  const turn = await begin(files(root, { fs: failing }));
  await turn.write("/a", "1");
  await turn.write("/b", "2");
  const answer = await turn.commit();
  assert.match(answer.error ?? "", /journal is kept/, JSON.stringify(answer));
  assert.ok(links > 0 && journalIn(root));
}

const COMMIT = `
  import { begin, FilesystemBackend } from ${JSON.stringify(new URL("../../pkg/dist/node.js", import.meta.url).href)};
  const turn = await begin(new FilesystemBackend({ rootDir: process.argv[1] }));
  await turn.write("/next", "2");
  const { error } = await turn.commit();
  if (error) throw new Error(error);
`;

// Each waits ten seconds, until the one that broke off is believed to have ended.
describe("what was broken off before something came in its way is ended", {
  concurrency: true,
}, () => {
  for (const who of ["the same process", "another process"]) {
    for (const [way, plant] of Object.entries({
      "a directory where it stored a file": (root) => {
        rmSync(join(root, "a"));
        mkdirSync(join(root, "a"));
      },
      "a directory where it would store one": (root) => mkdirSync(join(root, "b")),
      "directories in both places": (root) => {
        rmSync(join(root, "a"));
        mkdirSync(join(root, "a"));
        mkdirSync(join(root, "b"));
      },
    })) {
      test(`${who}: ${way}`, async (t) => {
        const root = folder(t);
        await brokenOff(root);
        plant(root);
        if (who === "the same process") {
          const turn = await begin(files(root));
          await turn.write("/next", "2");
          const made = await turn.commit();
          assert.equal(made.error, undefined, JSON.stringify(made));
        } else {
          // Fails if the process does.
          await run(process.execPath, ["--input-type=module", "-e", COMMIT, root]);
        }
        assert.equal(fs.readFileSync(join(root, "next"), "utf8"), "2");
        assert.ok(!journalIn(root));
        assert.ok(fs.statSync(join(root, way.includes("would") ? "b" : "a")).isDirectory());
      });
    }
  }
});
