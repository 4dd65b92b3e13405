// The library's own files, in every seat: in ten spellings no verb of a framework's seat, of `kitbag/fs`, of
// a server or of a drive reads, lists, changes, watches or plants them, over kitbag's backends and over an
// object of another library, with and without a `capability` of its own.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { begin, CompositeBackend, HttpBackend, StateBackend, withPolicy } from "kitbag";
import { createFs } from "kitbag/fs";
import { serveFiles } from "kitbag/server";
import { roomOf } from "../lib/room.mjs";
import { stranger } from "../lib/stranger.mjs";
import { SEATS } from "./attacks.mjs";

const SECRET = "kept by the library";
const PLAIN = "in view";
const FILE = "/.kitbag/turns/journal";
const own = await roomOf({ begin, StateBackend });
const encode = (text) => new TextEncoder().encode(text);

/** Directories that some file system takes for the room. */
const SPELLED = [
  "/.kitbag",
  "/.KITBAG",
  "/./.kitbag",
  "//.kitbag",
  "/.K\u0131tbag",
  "/.\u212aitbag",
  "/.kitbag.",
  "/.kit\u200bbag",
  "/.kit\ufe0fbag",
  "/.kitbag\u3164",
  "/KITBAG~1",
  "/d/.kitbag",
];

/** A memory with a file in its room, and what is in all of it. */
async function ours(wrap = (backend) => backend) {
  const inner = new StateBackend({ files: { "/d/plain.txt": PLAIN } });
  await inner.uploadFiles([[own(FILE), encode(SECRET)]]);
  return {
    backend: wrap(inner),
    all: async () => {
      const { files } = await inner.glob("**", own("/.kitbag"));
      const paths = [...files.map(({ path }) => own(path)), ...Object.keys(inner.snapshot())];
      const found = await inner.downloadFiles(paths);
      return found.map(({ path, content }) => [path, new TextDecoder().decode(content)]);
    },
  };
}

/** The same of an object that knows nothing of kitbag. */
function theirs(wrap) {
  const map = new Map([
    [FILE, SECRET],
    [`/d${FILE}`, SECRET],
    ["/d/plain.txt", PLAIN],
  ]);
  return { backend: wrap(stranger(map)), all: async () => [...map] };
}

const { capability } = new StateBackend();
const WHERE = {
  "a memory": () => ours(),
  "a policy": () => ours((backend) => withPolicy(backend, { hiddenCharacters: "allow" })),
  "a router": () => ours((backend) => new CompositeBackend(backend, {})),
  "a stranger": async () => theirs((object) => object),
  "a stranger with a capability": async () => theirs((object) => ({ ...object, capability })),
};

/** Verbs with arguments, for one spelling of the room. */
const attempts = (room) => [
  ["read", `${room}/turns/journal`],
  ["write", `${room}/turns/journal`],
  ["write", `${room}/turns/new`],
  ["append", `${room}/turns/journal`],
  ["edit", `${room}/turns/journal`, "kept"],
  ["remove", `${room}/turns/journal`],
  ["remove", room],
  ["move", `${room}/turns/journal`, "/out.txt"],
  ["move", room, "/out"],
  ["move", "/d/plain.txt", `${room}/turns/journal`],
  ["move", "/d/plain.txt", `${room}/in.txt`],
  ["copy", `${room}/turns/journal`, "/out.txt"],
  ["copy", room, "/out"],
  ["copy", "/d/plain.txt", `${room}/turns/journal`],
  ["list", room],
  ["list", `${room}/turns`],
  ["search", "by the lib", room],
  ["command", `cat '${room}/turns/journal'`],
  ["command", `cp -r '${room}' /out`],
  ["command", `mv '${room}' /out`],
  ["command", `cp /d/plain.txt '${room}/turns/journal'`],
  ["command", `echo x > '${room}/turns/journal'`],
  ["command", `rm -rf '${room}'`],
];

/** What shows everything there is. */
const ABOVE = [
  ["list", "/"],
  ["list", "/d"],
  ["search", "by the lib", "/"],
  ["command", "ls -laR /"],
  ["command", "find / -name '*journal*'"],
  ["command", "grep -r 'by the lib' /d"],
  ["command", "cat /.*/*/* /d/.*/*/*"],
];

const said = async (seat, [verb, ...args]) => {
  try {
    return JSON.stringify(await seat[verb](...args)) ?? "";
  } catch (error) {
    return `${error?.message} ${JSON.stringify(error)}`;
  }
};

for (const [where, make] of Object.entries(WHERE)) {
  describe(where, () => {
    for (const [name, seatOf] of Object.entries(SEATS)) {
      test(`${name}: the room stays closed`, async (t) => {
        const { backend, all } = await make();
        const seat = await seatOf(backend, t);
        const before = await all();
        for (const room of SPELLED) {
          for (const attempt of attempts(room)) {
            if (!seat[attempt[0]]) continue;
            const answer = await said(seat, attempt);
            const shown = `${attempt.join(" ")}: ${answer}`;
            assert.ok(!answer.includes(SECRET), shown);
            assert.deepEqual(await all(), before, shown);
          }
        }
        for (const attempt of ABOVE) {
          if (!seat[attempt[0]]) continue;
          const answer = await said(seat, attempt);
          assert.ok(!answer.includes(SECRET), `${attempt.join(" ")}: ${answer}`);
          const named = answer.replace("*journal*", "");
          assert.doesNotMatch(named, /journal|\.kitbag/, `${attempt.join(" ")}: ${answer}`);
        }
        assert.deepEqual(await all(), before);
      });
    }

    test("fs: directories read at once or in parts, copies, and a watcher", async () => {
      const { backend, all } = await make();
      const fs = createFs(backend);
      const p = fs.promises;
      const before = await all();
      const listed = async (run) => {
        try {
          return JSON.stringify(await run());
        } catch (error) {
          return error.code;
        }
      };
      const walk = async (path, options) => {
        const names = [];
        for await (const one of await p.opendir(path, options)) names.push(one.name);
        return names;
      };
      for (const at of ["/", "/d", ...SPELLED]) {
        for (const options of [
          { recursive: true },
          { recursive: false },
          { recursive: true, withFileTypes: true },
        ]) {
          const names = [
            await listed(() => p.readdir(at, options)),
            await listed(() => walk(at, options)),
          ];
          assert.doesNotMatch(names.join(), /journal|\.kitbag|turns/, `${at}: ${names}`);
        }
      }
      const heard = [];
      for (const room of SPELLED) {
        const file = `${room}/turns/journal`;
        for (const run of [
          () => p.cp("/d/plain.txt", file),
          () => p.cp(room, "/out", { recursive: true }),
          () => p.rename(room, "/out"),
          () => p.rename("/d/plain.txt", file),
          () => p.copyFile(file, "/out"),
          () => p.mkdir(`${room}/new`, { recursive: true }),
          () => p.symlink(file, "/door"),
          () => p.open(file, "r"),
          () => p.open(file, "w"),
          () => p.stat(file),
          () => p.access(room),
          () => p.utimes(file, 0, 0),
          () => p.rmdir(room),
        ]) {
          await assert.rejects(async () => run(), undefined, `${run} ${room}`);
        }
        try {
          const watcher = fs.watch(room, { recursive: true }, (...event) => heard.push(event));
          watcher.on?.("error", () => {});
          watcher.close();
        } catch {
          // It is refused.
        }
      }
      assert.deepEqual(heard, []);
      assert.deepEqual(await all(), before);
    });

    test("a server: methods, operations, watching, and a drive", async () => {
      const { backend, all } = await make();
      const serve = serveFiles(() => backend, { webdav: true });
      const before = await all();
      const url = (path) => `http://files.test${path.split("/").map(encodeURIComponent).join("/")}`;
      const ask = async (path, { headers, ...init } = {}) => {
        const request = new Request(path.startsWith("http") ? path : url(path), {
          headers: { "x-kitbag": "1", ...headers },
          ...init,
        });
        const answer = await serve(request);
        const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
        if (isStream) await answer.body.cancel();
        return { status: answer.status, text: isStream ? "" : await answer.text() };
      };
      const op = (fields) =>
        ask("/", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(fields),
        });
      const body = (text) => ({ base64: btoa(text) });
      const property =
        '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x:a xmlns:x="u">b</x:a></D:prop></D:set></D:propertyupdate>';
      const lock =
        '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';
      let tried = 0;
      for (const room of SPELLED) {
        const file = `${room}/turns/journal`;
        for (const run of [
          () => ask(file),
          () => ask(room),
          () => ask(file, { method: "HEAD" }),
          () => ask(file, { headers: { range: "bytes=0-3" } }),
          () => ask(file, { method: "PUT", body: "evil" }),
          () => ask(`${room}/new`, { method: "PUT", body: "evil" }),
          () => ask(file, { method: "DELETE" }),
          () => ask(room, { method: "DELETE" }),
          () => ask(`http://files.test/?watch=${encodeURIComponent(room)}`),
          () => ask("/d/plain.txt", { method: "MOVE", headers: { destination: url(file) } }),
          () => ask("/d/plain.txt", { method: "COPY", headers: { destination: url(file) } }),
          () => ask(file, { method: "MOVE", headers: { destination: url("/out") } }),
          () => ask(room, { method: "COPY", headers: { destination: url("/out") } }),
          () => ask(file, { method: "PROPPATCH", body: property }),
          () => ask(room, { method: "PROPFIND", headers: { depth: "1" } }),
          () => ask(`${room}/lock`, { method: "LOCK", body: lock }),
          () => ask(`${room}/new`, { method: "MKCOL" }),
          () => op({ op: "read", path: file }),
          () => op({ op: "readRaw", path: file }),
          () => op({ op: "ls", path: room }),
          () => op({ op: "glob", pattern: "**", path: room }),
          () => op({ op: "grep", pattern: "by the lib", path: room }),
          () => op({ op: "stat", path: file }),
          () => op({ op: "edit", path: file, oldString: "kept", newString: "x" }),
          () => op({ op: "append", path: file, content: "x" }),
          () => op({ op: "move", from: room, to: "/out" }),
          () => op({ op: "copy", from: "/d/plain.txt", to: file }),
          () =>
            op({ op: "commit", files: [{ path: file, before: body(SECRET), after: body("x") }] }),
          () => op({ op: "commit", files: [{ path: file, before: null, after: body("x") }] }),
          () => op({ op: "commit", files: [{ path: file, before: body("a"), after: null }] }),
        ]) {
          const { status, text } = await run();
          const shown = `${run} ${room}: ${status} ${text}`;
          assert.ok(status >= 400 || status === 207, shown);
          assert.ok(!text.includes(SECRET), shown);
          assert.deepEqual(await all(), before, shown);
          tried += 1;
        }
        for (const fields of [
          { op: "uploadFiles", files: [{ path: file, content: body("x") }] },
          { op: "downloadFiles", paths: [file] },
        ]) {
          const { text } = await op(fields);
          assert.ok(!text.includes(SECRET) && !text.includes(btoa(SECRET)), text);
          assert.match(text, /invalid_path/);
          assert.deepEqual(await all(), before);
        }
        const client = new HttpBackend({
          url: "http://files.test",
          fetch: (...a) => serve(new Request(...a)),
        });
        assert.equal((await client.read(file)).code, "invalid_path");
        assert.equal((await client.write(file, "x")).code, "invalid_path");
      }
      assert.ok(tried >= 300);
      for (const path of ["/", "/d"]) {
        const { text } = await ask(path, { method: "PROPFIND", headers: { depth: "1" } });
        assert.doesNotMatch(text, /journal|kitbag\//, text);
        const { text: names } = await op({ op: "ls", path });
        assert.doesNotMatch(names, /journal|\.kitbag/, names);
      }
      assert.deepEqual(await all(), before);
    });
  });
}
