// A registry of npm on loopback: the packed package, and packages as they are installed in a set of
// `tests/deps`. A project can then run `npm install NAME` as it stands in an instruction.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { must } from "../../scripts/lib/exec.mjs";
import { at } from "../../scripts/lib/paths.mjs";

/** The folders of all packages that a set has installed, also of those inside others, by name. */
function installed(set) {
  const root = at("tests/deps", set);
  const { packages } = JSON.parse(
    readFileSync(join(root, "node_modules/.package-lock.json"), "utf8"),
  );
  const found = new Map();
  for (const place of Object.keys(packages)) {
    const name = place.split("node_modules/").at(-1);
    found.set(name, [...(found.get(name) ?? []), join(root, place)]);
  }
  return found;
}

/**
 * Starts the registry. `tarballs` are files of packages with their manifests, `set` names the folder
 * of `tests/deps`; archives are made in `folder`. Returns its address, and `asked`: names it was asked for.
 */
export async function startRegistry({ tarballs, set, folder }) {
  const folders = installed(set);
  const archives = new Map();
  const asked = new Set();
  let origin;

  /** The archive of an installed package, made when it is asked for. */
  function archive(source, key) {
    let made = archives.get(key);
    if (!made) {
      const file = join(folder, `${key.replaceAll(/[^\w.-]/g, "-")}.tgz`);
      const without = ["--exclude=./node_modules", "--transform=s,^\\.,package,"];
      made = must("tar", ["-czf", file, ...without, "-C", source, "."]).then(() => file);
      archives.set(key, made);
    }
    return made;
  }

  async function versionOf(name, manifest, source) {
    const key = `${name}@${manifest.version}`;
    const body = readFileSync(await archive(source, key));
    const integrity = `sha512-${createHash("sha512").update(body).digest("base64")}`;
    const { scripts: _none, devDependencies: _neither, ...rest } = manifest;
    // npm looks at optional peers, too, although it does not install them, and the set lacks some.
    const optional = manifest.peerDependenciesMeta ?? {};
    rest.peerDependencies = Object.fromEntries(
      Object.entries(manifest.peerDependencies ?? {}).filter(([peer]) => !optional[peer]?.optional),
    );
    const tarball = `${origin}/-/${encodeURIComponent(key)}`;
    return [manifest.version, { ...rest, dist: { tarball, integrity } }];
  }

  async function described(name) {
    const own = tarballs.find(({ manifest }) => manifest.name === name);
    if (own) archives.set(`${name}@${own.manifest.version}`, Promise.resolve(own.file));
    const sources = own ? [undefined] : (folders.get(name) ?? []);
    const versions = [];
    for (const source of sources) {
      const manifest =
        own?.manifest ?? JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
      versions.push(await versionOf(name, manifest, source));
    }
    if (versions.length === 0) return undefined;
    return {
      name,
      "dist-tags": { latest: versions[0][0] },
      versions: Object.fromEntries(versions),
    };
  }

  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname.slice(1));
    try {
      if (path.startsWith("-/")) {
        const file = await archives.get(decodeURIComponent(path.slice(2)));
        response.writeHead(file ? 200 : 404).end(file && readFileSync(file));
        return;
      }
      asked.add(path);
      const found = await described(path);
      const type = { "content-type": "application/json" };
      response.writeHead(found ? 200 : 404, type).end(JSON.stringify(found ?? { error: "none" }));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
