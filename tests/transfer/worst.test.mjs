// The worst archives of a megabyte: unpacking them, or refusing to, takes at most a second of work.

import assert from "node:assert/strict";
import { test } from "node:test";
import { slow } from "../lib/work.mjs";
import { fromTar, fromZip, memory } from "./lib.mjs";
import { tarEntry, tarOf, zipOf } from "./made.mjs";

const MIB = 2 ** 20;
/** Seconds of work. */
const MOST = 1;
/** Seconds of work for each entry of a zip archive. */
const ENTRY = 0.0002;

/** Unpacks, and has an answer. */
const unpacked = (unpack, archive) => async () => {
  const result = await unpack(archive, memory());
  assert.equal(typeof result.copied, "number");
};

/** A record of an extended header: its length, a name and a value. */
function pax(name, value) {
  const rest = ` ${name}=${value}\n`;
  let length = rest.length + 1;
  while (`${length}`.length + rest.length !== length) length = `${length}`.length + rest.length;
  return `${length}${rest}`;
}

const entries = (count, entry) => Array.from({ length: count }, (_, at) => entry(at));

test(`tar: the worst megabyte takes at most ${MOST} s of work`, async () => {
  const extended = (content) =>
    tarOf({ name: "x", type: "x", content }, { name: "a", content: "a" });
  const archives = {
    "headers of empty files": tarOf(...entries(2_000, (at) => ({ name: `${at}` }))),
    "headers of one name": tarOf(...entries(2_000, () => ({ name: "a" }))),
    "headers of directories": tarOf(...entries(2_000, (at) => ({ name: `${at}/`, type: "5" }))),
    "deep paths": tarOf(...entries(1_000, (at) => ({ name: `${"d/".repeat(45)}${at}` }))),
    "a size that is not there": tarOf({ name: "a", content: "", size: 8 ** 11 - 1 }),
    "an extended header of a megabyte": extended(pax("comment", "c".repeat(MIB))),
    "an extended header of many records": extended(
      entries(MIB / 8, (at) => pax(`${at % 10}`, "")).join(""),
    ),
    "an extended header of one path, many times": extended(
      entries(MIB / 16, (at) => pax("path", `${at}`)).join(""),
    ),
    "a long name of a megabyte": tarOf(
      { name: "x", type: "L", content: "n".repeat(MIB) },
      { name: "a", content: "a" },
    ),
    "extended headers alone": Buffer.concat(
      entries(1_000, () => tarEntry({ name: "x", type: "x", content: pax("path", "a") })),
    ),
    "no header": Buffer.alloc(MIB, 0x41),
    nothing: Buffer.alloc(MIB),
  };
  const calls = Object.entries(archives).map(([name, one]) => [name, unpacked(fromTar, one)]);
  assert.deepEqual(await slow(Object.fromEntries(calls), MOST, "tar"), []);
});

test(`zip: the worst megabyte takes at most ${MOST} s of work`, async () => {
  const bomb = "0".repeat(64 * MIB);
  const archives = {
    "a bomb that says how large it is": zipOf({ name: "b", content: bomb, size: 2 ** 31 - 1 }),
    "a bomb that says it is small": zipOf({ name: "b", content: bomb, size: 10 }),
    "files of one name": zipOf(...entries(10_000, () => ({ name: "a" }))),
    "files that share one content": zipOf(
      ...entries(10_000, (at) => ({ name: `${at}`, content: "shared", offset: 0 })),
    ),
    "a name of 60,000 bytes": zipOf(
      ...entries(8, (at) => ({ name: `${at}${"n".repeat(60_000)}` })),
    ),
    "ends of directories": Buffer.from("PK\u0005\u0006".repeat(MIB / 4), "latin1"),
    "local headers": Buffer.from("PK\u0003\u0004".repeat(MIB / 4), "latin1"),
    nothing: Buffer.alloc(MIB),
  };
  const calls = Object.entries(archives).map(([name, one]) => [name, unpacked(fromZip, one)]);
  assert.deepEqual(await slow(Object.fromEntries(calls), MOST, "zip"), []);
});

test(`zip: every entry takes at most ${ENTRY} s of work`, async () => {
  const archives = {
    "empty files": entries(5_000, (at) => ({ name: `${at}` })),
    "files of a byte": entries(5_000, (at) => ({ name: `${at}`, content: "x" })),
    "files of 100 bytes": entries(10_000, (at) => ({
      name: `${at}`,
      content: `${at}`.padEnd(100),
    })),
    "deep paths": entries(2_000, (at) => ({ name: `${"d/".repeat(120)}${at}` })),
  };
  for (const [name, all] of Object.entries(archives)) {
    const calls = { [name]: unpacked(fromZip, zipOf(...all)) };
    assert.deepEqual(await slow(calls, ENTRY * all.length, "zip"), []);
  }
});
