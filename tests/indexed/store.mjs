// A tree whose index has several segments and entries that are out of date, and the comparison of
// its searches with scans.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { at } from "../../scripts/lib/paths.mjs";
import { dice, QUERIES } from "../lib/histories.mjs";
import * as kitbag from "../lib/kitbag.mjs";
import { roomOf } from "../lib/room.mjs";

const require = createRequire(at("tests/deps/durable/package.json"));
const WORDS = ["retry", "budget", "Kelvin", "σοφία", "fn main() {", "the end", "日本語", "12345"];

/** `SqlBackend` over a file, with the number of statements; `before(n)` runs before each. */
export async function sqlite({ SqlBackend }, path, before = () => {}) {
  const { createClient } = await import(pathToFileURL(require.resolve("@libsql/client")).href);
  const client = createClient({ url: pathToFileURL(path).href });
  let sent = 0;
  const query = async (sql, args) => {
    before(++sent);
    return client.execute({ sql, args });
  };
  return new SqlBackend({ query, dialect: "sqlite", migrate: true });
}

export const text = (at) => {
  const roll = dice(at);
  const line = () => Array.from({ length: 6 }, () => WORDS[roll(WORDS.length)]).join(" ");
  return `${line()}\nfile ${at} of many\n${line()}\n`;
};
export const name = (at) => `/src/${at}.ts`;
const upload = (backend, from, to) => {
  const files = Array.from({ length: to - from }, (_, i) => [name(from + i), text(from + i)]);
  return backend.uploadFiles(files.map(([path, body]) => [path, new TextEncoder().encode(body)]));
};

/** Fills a backend: four segments, and one entry of six is out of date. Returns its segments. */
export async function filled(plain, files) {
  let segments = 0;
  let from = 0;
  for (const count of [90, 27, 8, 2]) {
    await upload(plain, from, from + count);
    from += count;
    ({ segments } = await files.updateIndex());
  }
  for (let at = 0; at < from; at += 6) await plain.edit(name(at), "of many", "of some");
  return segments;
}

const shown = ({ error, matches }) =>
  error ?? matches.filter(({ path }) => !path.startsWith("/.index/"));

/** Each query finds through the index what a scan finds; returns what the last one excluded. */
export async function sameAnswers(plain, files) {
  let excluded = 0;
  for (const [pattern, options] of [...QUERIES, ["file 77 of many", {}]]) {
    const found = await files.grep(pattern, "/", null, { ...options, stats: true });
    assert.deepEqual(shown(found), shown(await plain.grep(pattern, "/", null, options)), pattern);
    excluded = found.stats.indexed;
  }
  return excluded;
}

/** The paths of segments that are stored, whether a manifest names them or not. */
export async function stored(plain) {
  const own = await roomOf(kitbag);
  const { files } = await plain.ls(own("/.index/.kitbag"));
  return files.map(({ path }) => path).filter((path) => !path.endsWith("manifest.bin"));
}
