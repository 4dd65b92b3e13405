// A server on loopback with the package, the pages of these tests, and files.

import { readFileSync, statSync } from "node:fs";
import { join, normalize, sep } from "node:path";
import { at } from "../../scripts/lib/paths.mjs";
import { listen, StateBackend, serveFiles } from "../reach/lib.mjs";

export const whole = process.env.KITBAG_CLIENTS === "all";

/** A backend in memory. */
export const memory = (writeMode) => new StateBackend({ writeMode });

const FOLDERS = {
  "/pkg/": at("pkg"),
  "/pages/": at("tests/browser/pages"),
  "/clients/": at("tests/clients"),
};
const TYPES = {
  html: "text/html; charset=utf-8",
  js: "text/javascript",
  mjs: "text/javascript",
  wasm: "application/wasm",
};

function page({ pathname }, more) {
  if (more[pathname])
    return new Response(more[pathname], { headers: { "content-type": TYPES.js } });
  const prefix = Object.keys(FOLDERS).find((one) => pathname.startsWith(one));
  const folder = prefix && FOLDERS[prefix];
  const file = folder && normalize(join(folder, pathname.slice(prefix.length)));
  if (!file?.startsWith(folder + sep) || !statSync(file, { throwIfNoEntry: false })?.isFile()) {
    return new Response(null, { status: 404 });
  }
  const type = TYPES[/\.([a-z]+)$/.exec(file)?.[1]] ?? "application/octet-stream";
  return new Response(readFileSync(file), { headers: { "content-type": type } });
}

/**
 * Serves backends at `/files`, one for each value of `authorization`, which ends with the mode of `write`.
 * `scripts` are further scripts by their paths.
 */
export async function serving(make, scripts = {}, options = {}) {
  const backends = new Map();
  const backendOf = ({ headers }) => {
    const name = headers.get("authorization");
    if (name && !backends.has(name)) backends.set(name, make(name.split(" ").at(-1), name));
    return name ? backends.get(name) : null;
  };
  const serve = serveFiles(backendOf, { path: "/files", maxParallel: 1000, ...options });
  const listening = await listen((request) => {
    const url = new URL(request.url);
    return url.pathname.startsWith("/files") ? serve(request) : page(url, scripts);
  });
  // A name that every browser takes for a secure context.
  const origin = `http://localhost:${listening.port}`;
  return { ...listening, origin, files: `${listening.url}/files` };
}
