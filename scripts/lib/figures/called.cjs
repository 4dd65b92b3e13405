// Calls `withPolicy(new S3Backend(…)).read(…)` of the package in the first argument once, over a `fetch`
// that answers by itself, and writes what was called to the file in the second argument. Started by
// `way.mjs` with `node --trace-wasm`, which prints every function of the WebAssembly that is entered.

const { writeFileSync } = require("node:fs");
const { Session } = require("node:inspector");
const { join } = require("node:path");

const [, , folder, file] = process.argv;
const core = join(folder, "dist/core.cjs");
const { S3Backend, withPolicy } = require(core);

Error.stackTraceLimit = Number.POSITIVE_INFINITY;
const session = new Session();
session.connect();
/** Calls the inspector, which answers at once. */
function inspector(method, parameters) {
  let answer;
  session.post(method, parameters, (error, result) => {
    if (error) throw new Error(error.message);
    answer = result;
  });
  return answer;
}

let seen;
globalThis.fetch = async () => {
  // What was called until now; what follows is the way back.
  const { result } = inspector("Profiler.takePreciseCoverage");
  const { functions } = result.find(({ url }) => url.endsWith("/core.cjs"));
  const called = functions.filter(({ ranges }) => ranges[0].count > 0);
  seen ??= {
    offsets: called.map(({ ranges }) => ranges[0].startOffset),
    stack: new Error().stack.split("\n").slice(1),
  };
  const headers = {
    "content-length": "6",
    "content-type": "text/plain",
    etag: '"1"',
    "last-modified": "Wed, 25 Nov 2026 07:00:00 GMT",
  };
  return new Response("hello\n", { headers });
};

async function main() {
  const bucket = new S3Backend({
    bucket: "files",
    region: "us-east-1",
    endpoint: "http://127.0.0.1:9",
    credentials: { accessKeyId: "id", secretAccessKey: "secret" },
  });
  const backend = withPolicy(bucket, { readOnlyPrefixes: ["/docs"] });
  inspector("Profiler.enable");
  inspector("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const { content, error } = await backend.read("/notes.txt");
  if (content !== "hello\n") throw new Error(`the read gave ${error ?? content}`);
  writeFileSync(file, JSON.stringify({ core, ...seen }));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
