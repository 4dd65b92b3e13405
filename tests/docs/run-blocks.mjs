// Runs blocks one after another in a process of their own, each in a new directory, and writes what
// each printed or threw to the file in the last argument.

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { formatWithOptions } from "node:util";
import { answerRequests, given } from "./given.mjs";

const LIMIT = 20_000;
const [listFile, resultFile] = process.argv.slice(2);
const stop = await answerRequests();
const results = {};
for (const { id, file, needs, signs } of JSON.parse(readFileSync(listFile, "utf8"))) {
  process.chdir(mkdtempSync(join(tmpdir(), "kitbag-docs-")));
  const printed = [];
  const said = console.log;
  console.log = (...values) =>
    printed.push(formatWithOptions({ breakLength: Number.POSITIVE_INFINITY }, ...values));
  const errors = [];
  const began = performance.now();
  try {
    globalThis.given = await given(needs);
    await within(run(await import(pathToFileURL(file).href), signs));
  } catch (error) {
    errors.push(String(error?.stack ?? error));
  } finally {
    console.log = said;
  }
  results[id] = { printed, errors, ms: Math.round(performance.now() - began) };
}
writeFileSync(resultFile, JSON.stringify(results));
await stop();
process.exit(0);

/** What is posted to a server's module: a request to sign, or a file. */
const TO_SIGN = { method: "GET", key: "agent/a.txt", query: {}, headers: {} };
const FILE = { path: "/a.txt", text: "a" };

/** A server's module is asked once. */
async function run(module, signs) {
  const env = globalThis.given.env ?? (await given(["env"])).env;
  const address = "http://localhost/?path=%2Fnotes%2Ftodo.md";
  const handler = module.default?.fetch ?? module.GET ?? module.POST;
  if (typeof handler !== "function") return;
  const posted = { method: "POST", body: JSON.stringify(signs ? TO_SIGN : FILE) };
  const request = new Request(address, handler === module.POST ? posted : undefined);
  const answer = await handler.call(module.default, request, env, {});
  if (!(answer instanceof Response) || answer.status >= 400) {
    throw new Error(`the server answered ${answer?.status}: ${await answer?.text?.()}`);
  }
}

function within(work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${LIMIT} ms`)), LIMIT);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
