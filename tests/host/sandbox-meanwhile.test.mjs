// SandboxBackend: a file that another process takes away, empties or replaces between two commands
// of one call. The answer is an error, or what the file held before or after; never an empty text.

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { kitbag, run, withFolder } from "./lib.mjs";

const { SandboxBackend } = kitbag;
const TEXT = "fourteen bytes\n";
const decoded = (content) => new TextDecoder().decode(content);

const HAPPENS = {
  "is deleted": (at) => fs.rmSync(at),
  "is renamed": (at) => fs.renameSync(at, `${at}.elsewhere`),
  "becomes a directory": (at) => {
    fs.rmSync(at);
    fs.mkdirSync(at);
  },
  "is deleted with its directory": (at) => fs.rmSync(join(at, ".."), { recursive: true }),
  "is written anew": (at) => fs.writeFileSync(at, "other\n"),
};

/** Calls, and the texts in their answers. */
const CALLS = {
  read: [async (b) => b.read("/d/a.txt"), ({ content }) => [content]],
  readRaw: [async (b) => b.readRaw("/d/a.txt"), ({ data }) => data && [data.content]],
  "download of one": [
    async (b) => (await b.downloadFiles(["/d/a.txt"]))[0],
    ({ content }) => content && [decoded(content)],
  ],
  "download of many": [
    async (b) => (await b.downloadFiles(["/d/a.txt", "/c.txt"]))[0],
    ({ content }) => content && [decoded(content)],
  ],
  grep: [
    async (b) => b.grep("[a-z]+", "/", "*.txt", null, { regex: true }),
    ({ matches }) => matches?.map(({ text }) => `${text}\n`),
  ],
  edit: [async (b) => b.edit("/d/a.txt", "fourteen", "fifteen"), () => undefined],
  "delete of what was read": [
    async (b) => b.delete("/d/a.txt", { unchanged: new TextEncoder().encode(TEXT) }),
    () => undefined,
  ],
};
const KNOWN = [TEXT, "other\n", "beside\n"];

for (const [name, [call, textsOf]] of Object.entries(CALLS)) {
  for (const [what, happen] of Object.entries(HAPPENS)) {
    test(`a file that ${what} during ${name} is never an empty text`, async () => {
      for (let nth = 1; nth <= 2; nth++) {
        await withFolder(async (rootDir) => {
          fs.mkdirSync(join(rootDir, "d"));
          fs.writeFileSync(join(rootDir, "d/a.txt"), TEXT);
          fs.writeFileSync(join(rootDir, "c.txt"), "beside\n");
          let commands = 0;
          const shell = run("/bin/sh");
          const execute = (command, limits) => {
            commands += 1;
            if (commands === nth) happen(join(rootDir, "d/a.txt"));
            return shell(command, limits);
          };
          const backend = new SandboxBackend({ id: "s", execute, rootDir });
          const answer = await call(backend);
          const texts = textsOf(answer);
          if (answer.error) assert.equal(typeof answer.error, "string");
          else for (const text of texts ?? []) assert.ok(KNOWN.includes(text), `${nth}: ${text}`);
          const at = join(rootDir, "d/a.txt");
          if (fs.existsSync(at) && fs.statSync(at).isFile()) {
            const now = fs.readFileSync(at, "utf8");
            assert.ok([...KNOWN, "fifteen bytes\n"].includes(now), `${nth}: ${now}`);
          }
        });
      }
    });
  }
}
