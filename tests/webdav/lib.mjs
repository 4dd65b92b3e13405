// What the tests of WebDAV share: a server, requests, and programs of others.

import { spawn } from "node:child_process";
import { connect } from "node:net";
import { BACKENDS, folder, listen, served, serveFiles } from "../reach/lib.mjs";

export * from "../reach/lib.mjs";
export { BACKENDS, folder, listen, served, serveFiles };

/** A server with WebDAV until the test is done. */
export const drive = (t, backendOf, options = {}) =>
  served(t, typeof backendOf === "function" ? backendOf : () => backendOf, {
    webdav: true,
    ...options,
  });

/** Runs a program to its end; `input` is what it reads. */
export function program(command, args, { input = "", cwd, env = {} } = {}) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env } });
  let out = "";
  const add = (bytes) => {
    out += bytes;
  };
  child.stdout.on("data", add);
  child.stderr.on("data", add);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out }));
  });
}

/** Sends a request of WebDAV. */
export const dav = (url, method, path, { headers, body, user } = {}) =>
  fetch(`${url}${path}`, {
    method,
    headers: { ...(user ? { authorization: user } : {}), ...headers },
    body,
  });

/** What a server answers to bytes on a socket, which it must do before five seconds are over. */
export const raw = (port, text) =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.on("data", (bytes) => {
      answer += bytes;
    });
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
    socket.setTimeout(5000, () => reject(new Error("no answer")));
    socket.end(text);
  });

/** The body of a `LOCK`. */
export const lockBody = (scope = "exclusive", owner = "<D:href>me</D:href>") =>
  `<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:${scope}/></D:lockscope>` +
  `<D:locktype><D:write/></D:locktype><D:owner>${owner}</D:owner></D:lockinfo>`;

/** Locks a path; returns the token between `<` and `>`. */
export async function locked(url, path, { user, headers, scope } = {}) {
  const answer = await dav(url, "LOCK", path, { user, headers, body: lockBody(scope) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  return answer.headers.get("lock-token");
}

/** The body of a `PROPPATCH` that sets one property. */
export const setBody = (value, name = "colour") =>
  `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x:${name} xmlns:x="urn:x">${value}</x:${name}>` +
  `</D:prop></D:set></D:propertyupdate>`;
