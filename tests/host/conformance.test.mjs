// The conformance suite on every backend that the host lends, for real: folders of this disk,
// this machine's shell and busybox, and the storage of the documentation.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import fsPromises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { describe } from "node:test";
import { pathToFileURL } from "node:url";
import { documentedStorage, kitbag, nodeShell, packageDir, run, withFolder } from "./lib.mjs";

const { runConformance } = await import(
  pathToFileURL(join(packageDir, "dist/conformance.js")).href
);
const { begin, undo } = kitbag;
const MapStorage = documentedStorage();

/** Turns over a sandbox are hundreds of processes a case, so one sandbox has them. */
const NO_TURNS = { turns: undefined };

/** Cases of what a sandbox's own uploads and downloads carry; the rest goes through commands, as on `sh`. */
const CARRIED = {
  turns: undefined,
  only: [
    ...["every byte", "uploaded text", "downloaded as its bytes", "uploads overwrite", "download"],
    ...["a bad path fails alone", "empty batches", "later entries", "handed in", "larger buffer"],
    ...["megabyte", "create", "whole file", "large text", "as base64", "no edit is lost"],
  ],
};

/** Runs the suite with a folder of its own for each case. */
async function conforms(make, options = {}) {
  const least = options.only?.length ?? 60;
  const base = mkdtempSync(join(tmpdir(), "kitbag conform ' "));
  let next = 0;
  try {
    const report = await runConformance(
      ({ writeMode }) => {
        const rootDir = join(base, String(next++));
        mkdirSync(rootDir);
        return make({ rootDir, writeMode });
      },
      { turns: { begin, undo }, ...options },
    );
    assert.deepEqual(report.failures, []);
    assert.ok(report.passed >= least, `only ${report.passed} cases ran`);
    const leftOut = report.leftOut.join("; ") || "nothing";
    console.log(`# ${report.passed} cases, left out: ${leftOut}`);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

test("CustomBackend on the documented storage", () =>
  conforms(({ writeMode }) => new kitbag.CustomBackend(new MapStorage(), { writeMode })));

test("FilesystemBackend", () => conforms((options) => new kitbag.FilesystemBackend(options)));

test("FilesystemBackend on a file system that was passed in", () =>
  conforms((options) => new kitbag.FilesystemBackend({ ...options, fs: fsPromises })));

test("FilesystemBackend with ripgrep", () =>
  conforms((options) => new kitbag.FilesystemBackend({ ...options, ripgrep: true })));

test("LocalShellBackend", () =>
  conforms((options) => new kitbag.LocalShellBackend({ ...options, execute: nodeShell() })));

// Most of their time they wait for processes.
describe("SandboxBackend", { concurrency: true }, () => {
  test("on sh", () =>
    conforms(
      (options) => new kitbag.SandboxBackend({ id: "sh", execute: run("/bin/sh"), ...options }),
    ));

  test("on busybox and nothing else", () =>
    withFolder((tools) => {
      const applets = execFileSync("busybox", ["--list"], { encoding: "utf8" }).trim().split("\n");
      const busybox = execFileSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" }).trim();
      for (const applet of applets) symlinkSync(busybox, join(tools, applet));
      const execute = run(join(tools, "sh"), { PATH: tools });
      const make = (options) => new kitbag.SandboxBackend({ id: "bb", execute, ...options });
      return conforms(make, NO_TURNS);
    }));

  test("with uploads and downloads of its own", () =>
    conforms((options) => {
      const uploadFiles = (files) =>
        Promise.all(
          files.map(async ([path, content]) => {
            await fsPromises.writeFile(path, content);
            return { path, error: null };
          }),
        );
      const downloadFiles = (paths) =>
        Promise.all(
          paths.map(async (path) => ({
            path,
            content: await fsPromises.readFile(path),
            error: null,
          })),
        );
      const execute = run("/bin/sh");
      return new kitbag.SandboxBackend({
        id: "up",
        execute,
        uploadFiles,
        downloadFiles,
        ...options,
      });
    }, CARRIED));
});
