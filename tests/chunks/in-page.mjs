// The chunks in a page. Each page is a new instance.

import * as history from "/pkg/dist/browser/history.js";
import * as ignore from "/pkg/dist/browser/ignore.js";
import * as indexed from "/pkg/dist/browser/indexed.js";
import * as provenance from "/pkg/dist/browser/provenance.js";
import * as sync from "/pkg/dist/browser/sync.js";
import * as main from "/pkg/dist/browser.js";
import { runConformance } from "/pkg/dist/conformance.js";
import { remote } from "./remote.mjs";
import { alone, SHORT, together } from "./run.mjs";
import { openSqlite } from "./sqlite-page.mjs";

const kitbag = { ...main, ...history, ...indexed, ...ignore, ...provenance, ...sync };

/** One chunk alone, or all of them; the reports. */
export async function run({ name, origin }) {
  const importRegex = () => import("/pkg/dist/browser/regex.js");
  const query = await openSqlite();
  const there = { indexedDb: true, opfs: true, importRegex, runConformance };
  const host = { ...remote(origin), query, ...there };
  return name ? [await alone(name, kitbag, host, { only: SHORT })] : together(kitbag, host);
}
