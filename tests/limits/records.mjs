// Records of a megabyte in the rooms of what layers keep, sealed as somebody would who may write there:
// what a room without a key believes.

import { createHash } from "node:crypto";
import { beginKept, withHistory } from "../../pkg/dist/history.js";
import { withProvenance } from "../../pkg/dist/provenance.js";
import * as kitbag from "../lib/kitbag.mjs";
import { ownFiles, roomOf } from "../lib/room.mjs";

const { begin, CompositeBackend, StateBackend } = kitbag;
const MIB = 2 ** 20;
const utf8 = new TextEncoder();

const part = (text) => (text === null ? "-\n" : `${text.length}\n${text}`);

/** Parts of a record, again and again until it has a megabyte. */
function many(first, next, last = []) {
  let text = first.map(part).join("");
  for (let at = 0; text.length < MIB; at++) text += next(at).map(part).join("");
  return text + last.map(part).join("");
}

/** A record as it is stored in a room without a key. */
function sealed(kind, name, body) {
  const hash = createHash("sha512-256");
  for (const text of ["", kind, name, body]) {
    const bytes = utf8.encode(text);
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(bytes.length));
    hash.update(length).update(bytes);
  }
  return utf8.encode(`kitbag 1 ${kind} - ${hash.digest("hex")}\n${body}`);
}

/** Puts a record in the place of the one whose path ends so. */
async function plant(backend, end, kind, body) {
  const own = await roomOf(kitbag);
  const paths = await ownFiles(own, backend);
  const path = paths.find((path) => path.includes(end));
  if (!path) throw new Error(`nothing is kept at ${end}, but ${paths}`);
  const name = path.slice(path.indexOf(end));
  await backend.uploadFiles([[own(path), sealed(kind, name, body)]]);
}

const labels = [{ paths: ["/web/**"], as: "web" }];
const files = () => new StateBackend({ files: { "/a.txt": "a\n", "/web/page": "w\n" } });

/** The calls to measure, by name. */
export async function records() {
  const ended = (answer) => {
    if (answer === undefined) throw new Error("no answer");
  };
  const keptTurn = async (body) => {
    const backend = new StateBackend();
    await beginKept(files(), { keepIn: { backend }, name: "t" }).write("/b", "1");
    await plant(backend, "t/log/00000001", "turn", body);
    return async () =>
      ended(await beginKept(files(), { keepIn: { backend }, name: "t" }).read("/b"));
  };
  const history = async (body) => {
    const backend = new StateBackend();
    await withHistory(files(), { keepIn: { backend } }).write("/b", "1");
    await plant(backend, "log/", "note", body);
    return async () => {
      const world = withHistory(files(), { keepIn: { backend } });
      const { entries } = await world.log("/");
      ended(await world.restore("/", { to: entries?.[0]?.id ?? new Date(0) }));
    };
  };
  const book = async (body) => {
    const backend = new StateBackend();
    const inner = files();
    const first = withProvenance(inner, { labels, keepIn: { backend } });
    await first.read("/web/page");
    await first.write("/c", "1");
    await plant(backend, "labels", "labels", body);
    return async () => {
      const world = withProvenance(inner, { labels, keepIn: { backend } });
      ended(await world.labels("/c"));
      ended(await world.write("/d", "1"));
    };
  };
  const journal = async (body) => {
    const own = await roomOf(kitbag);
    const inner = files();
    const record = sealed("journal", "journal", body);
    await inner.uploadFiles([[own("/.kitbag/turns/journal"), record]]);
    const tree = new CompositeBackend(inner, { "/m/": files() });
    return async () => ended(await begin(tree).read("/a.txt"));
  };
  const none = ["7", "start", "1", "2"];
  const lines = (line) =>
    `0\n${Array.from({ length: MIB / 24 }, (_, at) => line(at)).join("\n")}\n`;
  return {
    "a kept turn with many pages of one file": await keptTurn(
      many(none, (at) => ["read", `${at}`, "page", "/a", `${at}`, "9"], ["end"]),
    ),
    "a kept turn with many files": await keptTurn(
      many(none, (at) => ["change", `/${at}`, "x", null, "0", null, null, "y"], ["end"]),
    ),
    "a kept turn of parts that mean nothing": await keptTurn("0\n".repeat(MIB / 2)),
    "a note about many files": await history(
      many(["", "", "write"], (at) => ["file", `/${at}`, "x", "y", null], ["end"]),
    ),
    "a book of many files": await book(lines((at) => `/${at}\tweb\t${at}\t`)),
    "a book of one file": await book(lines(() => "/aaaaaaaaa\tweb\t1\t")),
    "a journal of many files that are not there": await journal(
      many(["applying", "7"], (at) => [`/${at}`, "x", "y", null]),
    ),
  };
}
