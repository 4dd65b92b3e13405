// What the npm package answers, as JSON: `node tests/python/npm-answers.mjs FILE`. The tests of the Python
// package ask theirs the same. A backend is described by data, from which both make one.

import { readFileSync, writeFileSync } from "node:fs";
import { CALLS, EVERY, jsonOf } from "../component/calls.mjs";
import { CompositeBackend, createFileTools, StateBackend, withPolicy } from "../lib/kitbag.mjs";

const cases = JSON.parse(
  readFileSync(new URL("../conformance/recorded.json", import.meta.url), "utf8"),
);

const state = {};
const both = ["read", "write"];
const routes = { "/src/": state, "/a": state, "/d/e": state };
const guarded = { inner: state, policy: { readOnlyPrefixes: ["/src"] } };
const hidden = [{ operations: both, paths: ["/a/**"], mode: "deny" }];

/** Backends by name. */
const BACKENDS = {
  "mounts that the cases meet": { inner: state, routes },
  "rules around a router, a router around rules": {
    inner: { inner: guarded, routes: { "/d": state } },
    policy: { permissions: hidden },
  },
  "read-only": { inner: state, policy: { readOnly: true } },
  "a read-only directory": guarded,
  "a rule that hides": {
    inner: state,
    policy: {
      permissions: [{ operations: both, paths: ["/a/**", "/**/*.txt"], mode: "deny" }],
    },
  },
  "rules that allow some": {
    inner: state,
    policy: {
      permissions: [
        { name: "notes", operations: ["write"], paths: ["/notes.txt"], mode: "deny" },
        { operations: both, paths: ["/**"], mode: "allow" },
      ],
      defaultMode: "deny",
    },
  },
  "nothing is allowed": { inner: state, policy: { defaultMode: "deny" } },
  "a quota": { inner: state, policy: { quota: { maxBytes: 40, maxFiles: 2, maxFileBytes: 30 } } },
  "a rate": { inner: state, policy: { rateLimit: { operations: 3, perMs: 3_600_000 } } },
};

function made({ inner, routes, policy }) {
  if (!inner) return new StateBackend();
  if (policy) return withPolicy(made(inner), policy);
  const mounts = Object.entries(routes).map(([prefix, one]) => [prefix, made(one)]);
  return new CompositeBackend(made(inner), Object.fromEntries(mounts));
}

const given = (value) => {
  if (Array.isArray(value)) return value.map(given);
  if (value?.base64 === undefined) return value ?? undefined;
  return new Uint8Array(Buffer.from(value.base64, "base64"));
};

/** JSON has no bytes. */
const plain = (value) =>
  JSON.parse(
    JSON.stringify(value, (_, one) =>
      one instanceof Uint8Array ? { base64: Buffer.from(one).toString("base64") } : one,
    ),
  );

async function replayed(backend) {
  const answers = [];
  for (const { calls } of cases) {
    const own = made(backend);
    const seen = [];
    for (const [method, args] of calls) seen.push(plain(await own[method](...args.map(given))));
    answers.push(seen);
  }
  return answers;
}

async function toolAnswers() {
  const tools = createFileTools(new StateBackend(), { tools: EVERY });
  const answers = [];
  for (const [at, [name, input]] of CALLS.entries()) {
    const { content, isError } = await tools.call(name, jsonOf(input), { id: `call_${at}` });
    answers.push({ name, arguments: jsonOf(input), isError, content: plain(content) });
  }
  const definitions = tools.tools.map(({ name, inputSchema }) => ({ name, inputSchema }));
  return { every: EVERY, calls: answers, definitions };
}

const backends = [];
for (const [name, backend] of Object.entries(BACKENDS)) {
  backends.push({ name, backend, answers: await replayed(backend) });
}
writeFileSync(process.argv[2], JSON.stringify({ backends, tools: await toolAnswers() }));
