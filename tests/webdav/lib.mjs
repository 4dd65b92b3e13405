// What the tests of WebDAV share: a server, requests, and programs of others.

import { spawn } from "node:child_process";
import { served } from "../reach/lib.mjs";

export * from "../reach/lib.mjs";

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
  // One that reads nothing may have ended before.
  child.stdin.on("error", () => {});
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
