// Under rules about paths a link is refused. The refusal says where it leads if the asker may read that place; for
// one that is hidden, or not there, or outside, it has the same words without it.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { kitbag, packageDir, withFolder } from "./lib.mjs";

const {
  CompositeBackend,
  createFileTools,
  FilesystemBackend,
  HttpBackend,
  StateBackend,
  withPolicy,
} = kitbag;
const { serveFiles } = await import(pathToFileURL(join(packageDir, "dist/serve_files.js")).href);

const SECRET = "hidden words";
const TARGETS = ["open", "secret", "nothing", "outside"];
/** What answers for each file of a batch. */
const SILENT = ["downloadFiles"];
const REFUSED = /leads (out of the root )?through a symbolic link/;

/** Every way to ask for a path, and its answer as a text. */
const WAYS = {
  read: (files, path) => files.read(path),
  readRaw: (files, path) => files.readRaw(path),
  edit: (files, path) => files.edit(path, SECRET, "x"),
  append: (files, path) => files.append(path, "x"),
  grep: (files, path) => files.grep(SECRET, path),
  downloadFiles: (files, path) => files.downloadFiles([path]),
  copy: (files, path) => files.copy(path, "/copied"),
  read_file: (files, path) =>
    createFileTools(files).call("read_file", { file_path: path }, { callId: "c" }),
};

/** A folder with links to places in it and beside it, behind a rule that hides one of them. */
const withLinks = (run) =>
  withFolder(async (folder) => {
    const root = fs.realpathSync(folder);
    const rootDir = join(root, "work");
    const places = { open: "work/open", secret: "work/secret", outside: "beside" };
    for (const [name, place] of Object.entries(places)) {
      fs.mkdirSync(join(root, place), { recursive: true });
      fs.writeFileSync(join(root, place, "key.txt"), SECRET);
      fs.symlinkSync(join(root, place), join(rootDir, `to-${name}`));
      fs.symlinkSync(join(root, place, "key.txt"), join(rootDir, `file-${name}`));
    }
    fs.symlinkSync(join(rootDir, "secret/none"), join(rootDir, "to-nothing"));
    fs.symlinkSync(join(rootDir, "secret/none.txt"), join(rootDir, "file-nothing"));
    const hidden = { operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" };
    const inner = new FilesystemBackend({ rootDir });
    await run({ files: withPolicy(inner, { permissions: [hidden] }), inner, root });
  });

for (const [way, ask] of Object.entries(WAYS)) {
  test(`${way}: the refusal of a link says where it leads only if that may be read`, () =>
    withLinks(async ({ files, root }) => {
      for (const form of [(name) => `/file-${name}`, (name) => `/to-${name}/key.txt`]) {
        const said = {};
        for (const name of TARGETS) {
          const path = form(name);
          const answer = JSON.stringify(await ask(files, path));
          assert.match(answer, REFUSED, path);
          // Only the path that was asked for is named, and the place that may be read.
          const rest = answer
            .replaceAll(path, "LINK")
            .replaceAll(" (resolves to /open/key.txt)", "");
          for (const word of [SECRET, root, "secret", "beside", "key.txt", "resolves"]) {
            assert.ok(!rest.includes(word), `${path}: ${rest} names ${word}`);
          }
          assert.equal(
            answer.includes("resolves to"),
            name === "open" && !SILENT.includes(way),
            answer,
          );
          said[name] = rest;
        }
        // A link to a hidden file tells nothing of whether that is there.
        assert.equal(said.secret, said.nothing);
        assert.equal(said.secret, said.open);
      }
    }));
}

test("a directory, and a new file below it", () =>
  withLinks(async ({ files }) => {
    assert.match((await files.ls("/to-open")).error, /\(resolves to \/open\)$/);
    assert.match(
      (await files.write("/to-open/new/a.txt", "")).error,
      /\(resolves to \/open\/new\/a.txt\)$/,
    );
    for (const path of ["/to-secret", "/to-nothing"]) {
      assert.doesNotMatch((await files.ls(path)).error, /resolves/);
      assert.doesNotMatch((await files.write(`${path}/new/a.txt`, "")).error, /resolves/);
    }
  }));

test("behind a mount the place has its name there, and every policy around it judges that name", () =>
  withLinks(async ({ inner, files }) => {
    const deny = (path) => [{ operations: ["read"], paths: [path], mode: "deny" }];
    const told = async (backend, path) => (await backend.read(path)).error;
    const mounted = (at) => new CompositeBackend(new StateBackend(), { "/m": at });
    const open = withPolicy(mounted(inner), { permissions: deny("/m/secret/**") });
    assert.match(
      await told(open, "/m/file-open"),
      /^'\/m\/file-open' .* \(resolves to \/m\/open\/key.txt\)$/,
    );
    assert.doesNotMatch(await told(open, "/m/file-secret"), /resolves/);
    assert.match(await told(mounted(files), "/m/file-open"), /\(resolves to \/m\/open\/key.txt\)$/);
    // Either policy can hide it, whatever the other one shows.
    for (const [below, above] of [
      ["/open/**", "/x"],
      ["/x", "/m/open/**"],
    ]) {
      const both = withPolicy(mounted(withPolicy(inner, { permissions: deny(below) })), {
        permissions: deny(above),
      });
      const answer = await told(both, "/m/file-open");
      assert.match(answer, REFUSED);
      assert.doesNotMatch(answer, /resolves/, `${below} ${above}`);
    }
    // Rules about paths that hide nothing.
    const seen = withPolicy(inner, { readOnlyPrefixes: ["/x"] });
    assert.match(await told(seen, "/file-secret"), /\(resolves to \/secret\/key.txt\)$/);
    assert.doesNotMatch(await told(seen, "/file-outside"), /resolves/);
  }));

test("through a foreign object, and over HTTP, where it has another name and other rules, it is not told", () =>
  withLinks(async ({ files }) => {
    class Foreign extends FilesystemBackend {
      read(path) {
        return files.read(path);
      }
      ls(path) {
        return files.ls(path);
      }
    }
    const fetch = (url, init) => serveFiles(() => files)(new Request(url, init));
    const ways = {
      foreign: new Foreign({ rootDir: "/nowhere" }),
      http: new HttpBackend({ url: "http://files.test", fetch }),
    };
    assert.match((await ways.foreign.read("/file-open")).error, /resolves/);
    for (const [name, way] of Object.entries(ways)) {
      const tree = new CompositeBackend(new StateBackend(), { "/m": way });
      for (const { error } of [await tree.read("/m/file-open"), await tree.ls("/m/to-open")]) {
        assert.match(error, REFUSED, name);
        assert.doesNotMatch(error, /resolves/, name);
      }
    }
  }));

test("without rules the same links inside of the folder lead where they lead", () =>
  withLinks(async ({ inner }) => {
    for (const name of ["open", "secret"]) {
      for (const path of [`/file-${name}`, `/to-${name}/key.txt`]) {
        assert.equal((await inner.read(path)).content, SECRET, path);
      }
    }
    assert.equal((await inner.read("/to-outside/key.txt")).code, "permission_denied");
  }));
