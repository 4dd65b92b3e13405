// Which spellings of a name a folder takes for one is found by looking at the folder; rules follow it.
// Names of Windows' devices are refused there.

import assert from "node:assert/strict";
import fs from "node:fs";
import fsPromises from "node:fs/promises";
import { dirname, join } from "node:path";
import test from "node:test";
import { kitbag, withFolder } from "./lib.mjs";

const { FilesystemBackend, withPolicy } = kitbag;

/** The path on disk that a folding system would find. */
function found(path) {
  if (typeof path !== "string" || !path.includes("kitbag-test-")) return path;
  const above = dirname(path);
  if (above === path || !above.includes("kitbag-test-")) return path;
  const dir = found(above);
  const name = path.slice(above.length + 1);
  let names = [];
  try {
    names = fs.readdirSync(dir);
  } catch {
    // It is not there.
  }
  const match = names.find((one) => one.toLowerCase() === name.toLowerCase());
  return join(dir, match ?? name);
}

/** A module of the host over a disk that folds case. */
const folding = (module) =>
  new Proxy(module, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (name === "realpathSync") return Object.assign(value, { native: value.native });
      if (typeof value !== "function") return value;
      return (...given) => Reflect.apply(value, target, given.map(found));
    },
  });

/** Runs a test as if the process were on another system, or its disk folded case. */
async function as({ platform, folds = false }, use) {
  const before = { platform: process.platform, getBuiltinModule: process.getBuiltinModule };
  try {
    if (platform) Object.defineProperty(process, "platform", { value: platform });
    process.getBuiltinModule = (name) => {
      const module = before.getBuiltinModule.call(process, name);
      return folds && /^node:fs(\/promises)?$/.test(name) ? folding(module) : module;
    };
    return await use();
  } finally {
    Object.defineProperty(process, "platform", { value: before.platform });
    process.getBuiltinModule = before.getBuiltinModule;
  }
}

const names = (backend) => backend.capability.names ?? "exact";

/** What is in the folder before it is asked. */
const FILLED = {
  "a file": (dir) => fs.writeFileSync(join(dir, "Notes.md"), ""),
  "a folder": (dir) => fs.mkdirSync(join(dir, "src")),
  "a dotted file": (dir) => fs.writeFileSync(join(dir, ".env"), ""),
  "names without letters": (dir) => fs.writeFileSync(join(dir, "1"), ""),
  "a link to nothing": (dir) => fs.symlinkSync("gone", join(dir, "link")),
  "a file with two names": (dir) => {
    fs.writeFileSync(join(dir, "one"), "");
    fs.linkSync(join(dir, "one"), join(dir, "two"));
  },
  nothing: () => {},
};

for (const [what, fill] of Object.entries(FILLED)) {
  for (const folds of [false, true]) {
    test(`a folder with ${what} that ${folds ? "folds" : "distinguishes"} case says so`, async () => {
      await withFolder(async (rootDir) => {
        fill(rootDir);
        const before = fs.readdirSync(rootDir);
        await as({ folds }, () => {
          const backend = new FilesystemBackend({ rootDir });
          assert.equal(names(backend), folds ? "case and composition" : "exact");
        });
        assert.deepEqual(fs.readdirSync(rootDir), before, "nothing is left behind");
      });
    });
  }
}

test("a file and a hard link to it that differ in case do not fold", async () => {
  await withFolder(async (rootDir) => {
    fs.writeFileSync(join(rootDir, "a"), "");
    fs.linkSync(join(rootDir, "a"), join(rootDir, "A"));
    assert.equal(names(new FilesystemBackend({ rootDir })), "exact");
  });
});

test("a folder that is not there yet is like the one that it will be made in", async () => {
  await withFolder(async (base) => {
    fs.writeFileSync(join(base, "Neighbour"), "");
    const rootDir = join(base, "new/deep");
    await as({ folds: true }, () => {
      assert.equal(names(new FilesystemBackend({ rootDir })), "case and composition");
    });
    assert.equal(names(new FilesystemBackend({ rootDir })), "exact");
    assert.deepEqual(fs.readdirSync(base), ["Neighbour"], "asking makes no folder");
  });
});

test("a folder that nobody may look at is taken for what is usual on its system", async () => {
  const usual = { linux: "exact", darwin: "case and composition", win32: "case" };
  await withFolder(async (rootDir) => {
    for (const [platform, expected] of Object.entries(usual)) {
      await as({ platform }, () => {
        const backend = new FilesystemBackend({ rootDir, fs: fsPromises });
        assert.equal(names(backend), expected, platform);
      });
    }
  });
});

test("a folder on macOS that distinguishes case folds composition all the same", async () => {
  await withFolder(async (rootDir) => {
    fs.writeFileSync(join(rootDir, "a"), "");
    await as({ platform: "darwin" }, () => {
      assert.equal(names(new FilesystemBackend({ rootDir })), "composition");
    });
    await as({ platform: "win32" }, () => {
      assert.equal(names(new FilesystemBackend({ rootDir })), "exact");
    });
  });
});

test("rules protect what is not there yet under every spelling", async () => {
  await withFolder(async (rootDir) => {
    await as({ folds: true }, async () => {
      const backend = withPolicy(new FilesystemBackend({ rootDir }), {
        readOnlyPrefixes: ["/agents.md", "/skills"],
        permissions: [{ operations: ["write"], paths: ["/.git/**"], mode: "deny" }],
      });
      for (const path of ["/AGENTS.MD", "/Skills/a.md", "/.GIT/config", "/.Git/hooks/pre-commit"]) {
        assert.equal((await backend.write(path, "planted")).code, "permission_denied", path);
      }
      assert.equal((await backend.write("/free.md", "free")).error, undefined);
    });
    assert.deepEqual(fs.readdirSync(rootDir), ["free.md"]);
  });
});

const DEVICES = [
  "CON",
  "nul.txt",
  "COM1.md",
  "aux",
  "prn.md",
  "LPT9.a.b",
  "com¹",
  "lpt³.md",
  "CONIN$",
];
const ODD = ["a:b", "a.", "a ", "nul .txt", "a:b:$DATA", "x?", "x*", "con/x", "d/NUL", "CLOCK$"];

test("Windows' device names and streams are no files there", async () => {
  await withFolder(async (rootDir) => {
    await as({ platform: "win32" }, async () => {
      const backend = new FilesystemBackend({ rootDir, fs: fsPromises });
      for (const name of [...DEVICES, ...ODD]) {
        assert.equal((await backend.write(`/${name}`, "x")).code, "invalid_path", name);
        assert.equal((await backend.copy("/a", `/${name}`)).error !== undefined, true, name);
      }
      for (const name of ["console", "null.txt", "com10", "COM", "acon", "nul-1"]) {
        assert.equal((await backend.write(`/${name}`, "x")).error, undefined, name);
      }
    });
    const backend = new FilesystemBackend({ rootDir });
    assert.equal((await backend.write("/CON", "x")).error, undefined, "elsewhere it is a file");
  });
});
