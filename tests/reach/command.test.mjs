// `kitbag serve --files`, and the addresses of such a server in other commands.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { at } from "../../scripts/lib/paths.mjs";
import { folder, HttpBackend } from "./lib.mjs";

/** Runs a command to its end. */
function run(args, env = {}) {
  const child = spawn(process.execPath, [at("pkg/dist/kitbag.js"), ...args], {
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (bytes) => {
    out += bytes;
  });
  child.stderr.on("data", (bytes) => {
    err += bytes;
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

/** A server of a folder, until the test is done. */
async function serving(t, root, env = {}, flag = "--files") {
  const args = [at("pkg/dist/kitbag.js"), "serve", root, "--http", "0", flag];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
  const over = new Promise((resolve) => child.on("close", resolve));
  t.after(() => {
    child.kill("SIGTERM");
    return over;
  });
  return new Promise((resolve, reject) => {
    let err = "";
    child.stderr.on("data", (bytes) => {
      err += bytes;
      const url = /serving at (\S+)/.exec(err)?.[1];
      if (url) resolve({ url, pid: child.pid });
    });
    child.on("close", () => reject(new Error(err)));
  });
}

test("a large file goes up in little memory at both ends", async (t) => {
  const [root, here] = [folder(t), folder(t)];
  const large = 512 << 20;
  writeFileSync(join(here, "film.bin"), "");
  truncateSync(join(here, "film.bin"), large);
  const { url, pid } = await serving(t, root);
  const client = `
    import { openAsBlob, readFileSync } from "node:fs";
    import { HttpBackend } from ${JSON.stringify(at("pkg/dist/node.js"))};
    const files = new HttpBackend({ url: ${JSON.stringify(url)} });
    await files.ls("/");
    const memory = (of) => Number(/VmRSS:\\s+(\\d+)/.exec(readFileSync("/proc/" + of + "/status", "utf8"))[1]) >> 10;
    const all = ["self", ${pid}];
    const before = all.map(memory);
    const most = all.map(() => 0);
    setInterval(() => all.forEach((one, at) => {
      most[at] = Math.max(most[at], memory(one) - before[at]);
    }), 5).unref();
    const film = await openAsBlob(${JSON.stringify(join(here, "film.bin"))});
    const [{ error, message }] = await files.uploadFiles([["/film.bin", film]]);
    console.log(JSON.stringify({ error, message, most }));
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", client]);
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (bytes) => {
      out += bytes;
    });
  }
  await once(child, "close");
  const { error, message, most } = JSON.parse(out);
  assert.equal(error, null, message);
  assert.equal(statSync(join(root, "film.bin")).size, large);
  // Node frees what it has read when it likes to.
  for (const mib of most) assert.ok(mib < 192, `${most} MiB`);
});

test("a folder is served, searched, copied and compared", async (t) => {
  const root = folder(t);
  mkdirSync(join(root, "notes"));
  writeFileSync(join(root, "notes/a.txt"), "one\nneedle\n");
  writeFileSync(join(root, ".env"), "KEY=1");
  const { url } = await serving(t, root);
  const found = await run(["grep", "needle", url]);
  assert.equal(found.code, 0, found.err);
  assert.match(found.out, /notes\/a\.txt:2:needle/);
  const target = folder(t);
  const copied = await run(["cp", `${url}#/notes`, join(target, "copy")]);
  assert.equal(copied.code, 0, copied.err);
  assert.equal(readFileSync(join(target, "copy/a.txt"), "utf8"), "one\nneedle\n");
  writeFileSync(join(target, "copy/b.txt"), "new");
  const compared = await run(["diff", `${url}#/notes`, join(target, "copy")]);
  assert.equal(compared.code, 1, compared.err);
  assert.match(compared.out, /\+ .*b\.txt/);
  const back = await run(["cp", join(target, "copy"), `${url}#/notes`]);
  assert.equal(back.code, 0, back.err);
  assert.equal(readFileSync(join(root, "notes/b.txt"), "utf8"), "new");
  // Files that usually contain keys are not served.
  assert.equal((await fetch(`${url}.env`)).status, 403);
  const elsewhere = await fetch(`${url}notes/a.txt`, { headers: { origin: "http://evil.test" } });
  assert.equal(elsewhere.status, 403);
});

test("with a token, only who has it", async (t) => {
  const root = folder(t);
  writeFileSync(join(root, "a.txt"), "one");
  const { url } = await serving(t, root, { KITBAG_TOKEN: "t0ken-of-the-test" });
  assert.equal((await fetch(`${url}a.txt`)).status, 401);
  const refused = await run(["ls", url], { KITBAG_TOKEN: "" });
  assert.equal(refused.code, 2, refused.out);
  const listed = await run(["ls", url], { KITBAG_TOKEN: "t0ken-of-the-test" });
  assert.match(listed.out, /a\.txt/);
  const files = new HttpBackend({ url, headers: { authorization: "Bearer t0ken-of-the-test" } });
  assert.equal((await files.read("/a.txt")).content, "one");
});

test("a drive signs in with the token as its password", async (t) => {
  const root = folder(t);
  writeFileSync(join(root, "a.txt"), "one");
  const { url } = await serving(t, root, { KITBAG_TOKEN: "t0ken-of-the-test" }, "--webdav");
  const as = (name, password) => ({ authorization: `Basic ${btoa(`${name}:${password}`)}` });
  const ask = (method, path, headers, body) => fetch(`${url}${path}`, { method, headers, body });
  for (const headers of [{}, as("ann", "guess"), as("t0ken-of-the-test", "")]) {
    const refused = await ask("PROPFIND", "", headers);
    assert.equal(refused.status, 401);
    assert.match(refused.headers.get("www-authenticate"), /^Basic /);
  }
  const ann = as("ann", "t0ken-of-the-test");
  const bob = as("bob", "t0ken-of-the-test");
  const listed = await ask("PROPFIND", "", { ...ann, depth: "1" });
  assert.equal(listed.status, 207);
  assert.match(await listed.text(), /<D:href>\/a\.txt<\/D:href>/);
  const body =
    '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>';
  assert.equal((await ask("LOCK", "a.txt", ann, body)).status, 200);
  assert.equal((await ask("PUT", "a.txt", bob, "two")).status, 423);
  assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "one");
  const files = new HttpBackend({ url, headers: { authorization: "Bearer t0ken-of-the-test" } });
  assert.equal((await files.read("/a.txt")).content, "one");
});

test("--files needs a port, and a password belongs in no address", async () => {
  const alone = await run(["serve", ".", "--files"]);
  assert.equal(alone.code, 2);
  assert.match(alone.err, /--files needs --http PORT/);
  assert.match((await run(["serve", ".", "--webdav"])).err, /--webdav needs --http PORT/);
  const secret = await run(["ls", "https://me:hunter22@host/files"]);
  assert.equal(secret.code, 2);
  assert.match(secret.err, /KITBAG_TOKEN/);
  assert.ok(!secret.err.includes("hunter22"), secret.err);
});
