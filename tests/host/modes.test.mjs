// Permission bits on every way that a file takes: between mounts, through turns, histories and rules, and
// back again, also by another process, in folders, sandboxes and storages of one's own.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { withHistory } from "../../pkg/dist/history.js";
import { withProvenance } from "../../pkg/dist/provenance.js";
import { kitbag, run, withFolder } from "./lib.mjs";

const { begin, CompositeBackend, CustomBackend, FilesystemBackend, LocalShellBackend } = kitbag;
const { SandboxBackend, StateBackend, undo, withPolicy } = kitbag;

const umask = process.umask(0o022);
after(() => process.umask(umask));

/** A storage of one's own that keeps permission bits; its files are in `root`, one level deep. */
const storage = (root) => ({
  capability: { create: "storage", update: "storage", keepsModes: true },
  get(path) {
    const at = join(root, path.replaceAll("/", "__"));
    if (!fs.existsSync(at)) return null;
    const { mode, mtimeNs } = fs.statSync(at, { bigint: true });
    return { content: fs.readFileSync(at), mode: Number(mode), version: `${mtimeNs}` };
  },
  list: (prefix) =>
    fs
      .readdirSync(root)
      .map((name) => name.replaceAll("__", "/"))
      .filter((path) => path.startsWith(prefix)),
  put(path, { content, mode }, condition) {
    const at = join(root, path.replaceAll("/", "__"));
    const version = this.get(path)?.version;
    if (condition.mode === "create" && version !== undefined) return false;
    if (condition.mode === "update" && version !== condition.version) return false;
    fs.writeFileSync(at, content);
    if (mode !== undefined && version === undefined) fs.chmodSync(at, mode);
    return undefined;
  },
  delete(path) {
    fs.rmSync(join(root, path.replaceAll("/", "__")), { force: true });
  },
});

/** Each kind: a backend over the folder, made anew as another process would, and where its files are. */
const KINDS = {
  "a folder": [
    (rootDir) => new FilesystemBackend({ rootDir, writeMode: "overwrite" }),
    (root, path) => join(root, path),
  ],
  "a shell": [
    (rootDir) => LocalShellBackend.create({ rootDir, virtualMode: true, writeMode: "overwrite" }),
    (root, path) => join(root, path),
  ],
  "a sandbox": [
    (rootDir) =>
      new SandboxBackend({ id: "s", execute: run("/bin/sh"), rootDir, writeMode: "overwrite" }),
    (root, path) => join(root, path),
  ],
  "a storage": [
    (root) => new CustomBackend(storage(root), { writeMode: "overwrite" }),
    (root, path) => join(root, path.replaceAll("/", "__")),
  ],
};

/** What stands between the caller and the files. */
const LAYERS = {
  "as it is": (backend) => backend,
  "under permissions": (backend) =>
    withPolicy(backend, {
      permissions: [{ operations: ["write"], paths: ["/no/**"], mode: "deny" }],
    }),
  "under inspection": (backend) => withPolicy(backend, { inspect: () => undefined }),
  "under labels": (backend) =>
    withProvenance(backend, { labels: [{ paths: ["/web/**"], as: "web" }], flows: [] }),
  "in a router": (backend) => new CompositeBackend(backend, { "/none/": new StateBackend() }),
};

const MODES = [0o600, 0o640, 0o755, 0o444];
let turn = 0;
const bits = (file) => (fs.statSync(file).mode & 0o777).toString(8);
const right = (answer) => {
  assert.equal(answer.error, undefined);
  return answer;
};

/** What is done to `/d/a.txt` in `at()`, and where the file is then; `at` gives the backend anew. */
const WAYS = {
  "a copy": async (at) => {
    right(await (await at()).copy("/d/a.txt", "/b.txt"));
    return "/b.txt";
  },
  "a move": async (at) => {
    right(await (await at()).move("/d/a.txt", "/b.txt"));
    return "/b.txt";
  },
  "a copy in a turn": async (at) => {
    const turn = begin(await at());
    right(await turn.copy("/d/a.txt", "/b.txt"));
    right(await turn.copy("/b.txt", "/c.txt"));
    right(await turn.commit());
    return "/c.txt";
  },
  "a move of a directory in a turn": async (at) => {
    const turn = begin(await at());
    right(await turn.move("/d", "/e"));
    right(await turn.commit());
    return "/e/a.txt";
  },
  "a move in a turn, and its undo": async (at) => {
    const turn = begin(await at());
    right(await turn.move("/d/a.txt", "/b.txt"));
    const { receipt } = right(await turn.commit());
    right(await undo(await at(), receipt));
    return "/d/a.txt";
  },
  "the undo of a deletion, by another process": async (at) => {
    const turn = begin(await at());
    right(await turn.delete("/d/a.txt"));
    const { receipt } = right(await turn.commit());
    const copy = structuredClone(receipt);
    right(await undo(await at(), copy));
    return "/d/a.txt";
  },
  "the undo of the deletion of a directory, and its undo, and the undo of that": async (at) => {
    const turn = begin(await at());
    right(await turn.delete("/d"));
    const first = right(await turn.commit());
    const second = right(await undo(await at(), first.receipt));
    const third = right(await undo(await at(), second.receipt));
    right(await undo(await at(), third.receipt));
    return "/d/a.txt";
  },
  "a turn in a turn": async (at) => {
    const outer = begin(await at());
    const inner = begin(outer);
    right(await inner.copy("/d/a.txt", "/b.txt"));
    right(await inner.commit());
    right(await outer.commit());
    return "/b.txt";
  },
  "a history: a deletion and its restore by another process": async (at) => {
    const keepIn = { backend: new StateBackend({ scope: "instance" }) };
    const history = withHistory(await at(), { keepIn });
    const { entries } = right(await history.log());
    assert.deepEqual(entries, []);
    right(await history.write("/first.txt", "x"));
    const [first] = right(await history.log()).entries;
    right(await history.delete("/d"));
    right(await withHistory(await at(), { keepIn }).restore("/d", first.id));
    return "/d/a.txt";
  },
  "a history: a copy": async (at) => {
    const keepIn = { backend: new StateBackend({ scope: "instance" }) };
    right(await withHistory(await at(), { keepIn }).copy("/d/a.txt", "/b.txt"));
    return "/b.txt";
  },
};

for (const [kind, [make, place]] of Object.entries(KINDS)) {
  for (const [layer, wrap] of Object.entries(LAYERS)) {
    for (const [way, act] of Object.entries(WAYS)) {
      const mode = MODES[turn++ % MODES.length];
      test(`${kind}, ${layer}: ${way} keeps the bits ${mode.toString(8)}`, () =>
        withFolder(async (root) => {
          const backend = wrap(await make(root));
          right(await backend.write("/d/a.txt", "secret"));
          fs.chmodSync(place(root, "/d/a.txt"), mode);
          assert.equal(backend.capability.keepsModes, true);
          const path = await act(async () => wrap(await make(root)));
          assert.equal(bits(place(root, path)), mode.toString(8));
        }));
    }
  }

  for (const [other, [makeOther, placeOther]] of Object.entries(KINDS)) {
    for (const keeps of [true, false]) {
      const verb = keeps ? "copied" : "moved";
      test(`${kind} to ${other}: files that are ${verb} between mounts keep them`, () =>
        withFolder((root) =>
          withFolder(async (there) => {
            const mounts = { "/to/": await makeOther(there) };
            const tree = new CompositeBackend(await make(root), mounts);
            for (const [at, mode] of MODES.entries()) {
              right(await tree.write(`/d/${at}.txt`, "secret"));
              fs.chmodSync(place(root, `/d/${at}.txt`), mode);
            }
            right(await (keeps ? tree.copy("/d", "/to/d") : tree.move("/d", "/to/d")));
            for (const [at, mode] of MODES.entries()) {
              assert.equal(bits(placeOther(there, `/d/${at}.txt`)), mode.toString(8));
              assert.equal(fs.existsSync(place(root, `/d/${at}.txt`)), keeps);
            }
          }),
        ));
    }
  }

  test(`${kind}: a file that is replaced keeps its own bits, and a new one gets the usual`, async () => {
    await withFolder(async (root) => {
      const backend = await make(root);
      right(await backend.write("/a.txt", "secret"));
      right(await backend.write("/b.txt", "open"));
      fs.chmodSync(place(root, "/a.txt"), 0o600);
      right(await backend.copy("/a.txt", "/b.txt", { overwrite: true }));
      right(await backend.delete("/a.txt"));
      right(await backend.write("/a.txt", "secret"));
      const now = ["/a.txt", "/b.txt"].map((path) => bits(place(root, path)));
      assert.deepEqual(now, ["644", "644"]);
    });
  });
}

test("bits above the nine are not copied: no copy runs as another user", () =>
  withFolder((root) =>
    withFolder(async (there) => {
      const tree = new CompositeBackend(new FilesystemBackend({ rootDir: root }), {
        "/to/": new FilesystemBackend({ rootDir: there }),
      });
      right(await tree.write("/a.sh", "x"));
      fs.chmodSync(join(root, "a.sh"), 0o6755);
      right(await tree.copy("/a.sh", "/to/a.sh"));
      assert.equal(fs.statSync(join(there, "a.sh")).mode & 0o7777, 0o755);
    }),
  ));

for (const mode of [-1, 0o1000, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "0600", null, {}]) {
  test(`a receipt with the bits ${String(mode)} is refused`, async () => {
    const files = new StateBackend({ scope: "instance", files: {} });
    const receipt = { files: [{ path: "/a", before: new Uint8Array(1), after: null, mode }] };
    const { error, code } = await undo(files, receipt);
    assert.equal(code, "invalid_argument");
    assert.match(error, /receipt\.files\[0\]\.mode must be permission bits up to 0o777/);
    assert.equal(files.read("/a").code, "not_found");
  });
}

for (const [what, backend] of [
  ["a state", new StateBackend()],
  ["a router of states", new CompositeBackend(new StateBackend(), { "/m/": new StateBackend() })],
  ["a storage that does not say so", new CustomBackend({ get() {}, list: () => [] })],
]) {
  test(`${what} keeps none, and says so`, () => {
    assert.equal(backend.capability.keepsModes, false);
  });
}
