// Records the cases of `kitbag/conformance` on a StateBackend, as calls with their results. The Rust
// suite (`src/conformance`) replays them natively on every storage, so both have one source.
//
//     npm run build && node tests/conformance/record.mjs
//
// Left out are cases with values that only JavaScript has, with concurrent calls, with much data,
// and those that need a capability which a StateBackend lacks.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { conformanceCases, runConformance } from "../../pkg/dist/conformance.js";
import { StateBackend } from "../../pkg/dist/node.js";

export const FILE = new URL("./recorded.json", import.meta.url);

/** Larger cases are not recorded. */
const MOST_BYTES = 50_000;

const METHODS = [
  ...["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"],
  ...["uploadFiles", "downloadFiles", "move", "copy", "append"],
];

/** What a capability may be, the usual value first. */
const PROMISES = {
  create: ["storage", "instance", "never"],
  update: ["storage", "instance", "never"],
  directories: ["implied", "real", "stored"],
  keepsCreated: [true, false],
  keepsMime: [true, false],
  keepsFormat: [true, false],
  keepsBinary: [true, false],
  writable: [true, false],
};

/** What a case needs: the values of each property with which it runs, where some are excluded. */
function needsOf({ needs }) {
  const usual = { extras: true, deletes: true, moves: true, batches: true };
  for (const [name, values] of Object.entries(PROMISES)) usual[name] = values[0];
  const runs = (changed) => needs?.({ ...usual, ...changed }) ?? true;
  if (!runs({})) return undefined;
  const found = {};
  for (const [name, values] of Object.entries(PROMISES)) {
    const allowed = values.filter((value) => runs({ [name]: value }));
    if (allowed.length < values.length) found[name] = allowed;
  }
  return found;
}

/** A value as JSON; undefined if JSON cannot hold it. */
function plain(value) {
  if (value === undefined) return null;
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  if (value === null || ["string", "boolean"].includes(typeof value)) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "object") return undefined;
  if (Array.isArray(value)) {
    const all = value.map(plain);
    return all.includes(undefined) ? undefined : all;
  }
  const entries = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .map(([name, one]) => [name, plain(one)]);
  return entries.some(([, one]) => one === undefined) ? undefined : Object.fromEntries(entries);
}

/** Arguments that the Rust types can express. */
function expressible(method, args) {
  const [first, second, third, limit] = args;
  if (args.some((arg) => typeof arg === "function" || typeof arg === "symbol")) return false;
  const text = (value) => typeof value === "string" && value.isWellFormed();
  if (method === "uploadFiles" || method === "downloadFiles") return Array.isArray(first);
  if (!text(first)) return false;
  if (method === "read") {
    return [second, third].every((n) => n === undefined || (Number.isInteger(n) && n >= 0));
  }
  // The component has whole files only.
  if (method === "readRaw") return second === undefined;
  if (method === "grep") return limit == null || (Number.isInteger(limit) && limit > 0);
  if (method === "write") return text(second);
  if (method === "edit") return text(second) && text(third);
  if (method === "move" || method === "copy" || method === "append") return text(second);
  return true;
}

/** A result without times, which differ from run to run, as does the order that follows them. */
function timeless(method, answer) {
  const without = ({ modified_at, created_at, ...rest }) => rest;
  if (Array.isArray(answer)) return answer.map(({ code, message, ...rest }) => rest);
  if (answer?.files) {
    const files = answer.files.map(without);
    if (method === "glob") files.sort((a, b) => Buffer.compare(...[a, b].map(bytesOf)));
    return { ...answer, files };
  }
  if (answer?.data) return { ...answer, data: without(answer.data) };
  return answer;
}

const bytesOf = ({ path }) => Buffer.from(path);

/** All cases that can be recorded. */
export async function record() {
  const cases = [];
  for (const one of conformanceCases()) {
    const needs = needsOf(one);
    if (one.writeMode === "overwrite" || needs === undefined) continue;
    const calls = [];
    let running = 0;
    let usable = true;
    const make = () => {
      const inner = new StateBackend();
      const backend = { capability: inner.capability };
      for (const method of METHODS) {
        backend[method] = async (...args) => {
          running += 1;
          if (running > 1) usable = false;
          const answer = inner[method](...args);
          usable &&= expressible(method, args);
          if (usable) {
            const [given, seen] = [plain(args), plain(timeless(method, answer))];
            usable = given !== undefined && seen !== undefined;
            calls.push([method, given, seen]);
          }
          await Promise.resolve();
          running -= 1;
          return answer;
        };
      }
      return backend;
    };
    const others = conformanceCases().filter(({ name }) => name !== one.name);
    const except = Object.fromEntries(others.map(({ name }) => [name, "another case"]));
    const { passed, failures } = await runConformance(make, { except });
    if (passed !== 1) throw new Error(`${one.name}: ${failures}`);
    const recorded = { name: one.name, needs, calls };
    if (usable && JSON.stringify(recorded).length <= MOST_BYTES) cases.push(recorded);
  }
  return cases;
}

/** The file's text: one line for each call. */
export function formatted(cases) {
  const texts = cases.map(
    ({ name, needs, calls }) =>
      `{"name":${JSON.stringify(name)},"needs":${JSON.stringify(needs)},"calls":[\n${calls
        .map((call) => JSON.stringify(call))
        .join(",\n")}\n]}`,
  );
  return `[\n${texts.join(",\n")}\n]\n`;
}

export const committed = () => readFileSync(FILE, "utf8");

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const cases = await record();
  writeFileSync(FILE, formatted(cases));
  const left = conformanceCases().filter(({ name }) => !cases.some((one) => one.name === name));
  console.log(`${cases.length} cases recorded; not: ${left.map(({ name }) => name).join("; ")}`);
}
