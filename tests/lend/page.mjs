// What the tests run in a page that lends its files.

import * as kitbag from "kitbag";
import { lendFiles } from "kitbag/lend";

const KINDS = {
  opfs: (options) => new kitbag.OpfsBackend(options),
  indexeddb: (options) => new kitbag.IndexedDbBackend({ database: "lent", ...options }),
  state: (options) => new kitbag.StateBackend(options),
};

/** What is lent, so that the tests can look at it. */
const lent = {};
/** What the person was asked, and answers. */
const person = { asked: [], answer: false };

/** Lends a tree; `confirms` asks the person about changes. */
export async function lend({ kind, url, confirms }) {
  const files = KINDS[kind]({ writeMode: "overwrite" });
  await files.uploadFiles([
    ["/notes.md", new TextEncoder().encode("needle\n")],
    ["/secret/key.txt", new TextEncoder().encode("5ECRET\n")],
  ]);
  lent[kind] = files;
  const both = ["read", "write"];
  const ruled = kitbag.withPolicy(files, {
    permissions: [
      { operations: both, paths: ["/secret/**"], mode: "deny" },
      ...(confirms ? [{ operations: ["write"], paths: ["/**"], mode: "ask" }] : []),
    ],
    onAsk: ({ path }) => {
      person.asked.push(path);
      return person.answer;
    },
  });
  const socket = new WebSocket(url);
  lendFiles(socket, ruled);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("no socket"));
  });
}

/** A file of what is lent. */
export const content = async ({ kind, path }) => (await lent[kind].read(path)).content;

/** The person's next answers; returns what was asked. */
export function answers({ answer }) {
  person.answer = answer;
  return person.asked.splice(0);
}

/** Lends memory to a Worker, and lets it work; returns what it says then. */
export async function worked({ url }) {
  const files = KINDS.state({ writeMode: "overwrite" });
  await files.uploadFiles([
    ["/notes.md", new TextEncoder().encode("needle\n")],
    ["/secret/key.txt", new TextEncoder().encode("5ECRET\n")],
  ]);
  lent.state = files;
  const socket = new WebSocket(url);
  const said = new Promise((resolve) => {
    socket.addEventListener("message", ({ data }) => typeof data === "string" && resolve(data));
  });
  lendFiles(
    socket,
    kitbag.withPolicy(files, {
      permissions: [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }],
    }),
  );
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  socket.send("begin");
  return said;
}
