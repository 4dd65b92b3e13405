// `kitbag sync`, killed: two folders; a folder and SQLite over HTTP.

import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { installed } from "../command/lib.mjs";
import { killedAgain } from "./killed-command.mjs";
import { cleared, kitbag, scratch } from "./lib.mjs";

const { FilesystemBackend, HttpBackend } = kitbag;

let command;
before(async () => {
  command = await installed();
  command.link("node-sqlite3-wasm", "durable");
});
after(() => {
  command?.remove();
  cleared();
});

/** A new folder, its backend, and how to sync it with another place. */
function folderFor(other) {
  const folder = scratch();
  const a = new FilesystemBackend({ rootDir: folder });
  const begin = () => command.begin(["sync", folder, other], { stdio: "ignore" });
  return { a, folder, begin };
}

test("two folders", { timeout: 900_000 }, async (t) => {
  const other = scratch();
  const b = new FilesystemBackend({ rootDir: other });
  t.diagnostic(JSON.stringify(await killedAgain({ ...folderFor(other), b })));
});

test("a folder, and SQLite over HTTP", { timeout: 900_000 }, async (t) => {
  const place = scratch();
  mkdirSync(place, { recursive: true });
  const address = `sqlite:${join(place, "files.db")}`;
  const server = command.begin(["serve", address, "--http", "0", "--files"]);
  const gone = once(server, "close");
  t.after(async () => {
    server.kill("SIGKILL");
    await gone;
  });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    server.stderr.on("data", (data) => {
      said += data;
      const found = /http:\/\/[^\s/]+/.exec(said);
      if (found) resolve(`${found[0]}/`);
    });
    server.once("close", () => reject(new Error(said)));
  });
  const b = new HttpBackend({ url });
  t.diagnostic(JSON.stringify(await killedAgain({ ...folderFor(url), b })));
});
