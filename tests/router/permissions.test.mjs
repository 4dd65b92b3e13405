// Our permission rules against deepagents' own middleware, run from the published package: the
// same rules, the same path, the same outcome. Where ours is stricter, the row says why.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { StateBackend, withPolicy } from "../lib/kitbag.mjs";

const require = createRequire(
  fileURLToPath(new URL("../deps/latest/package.json", import.meta.url)),
);
const { createFilesystemMiddleware } = await import(
  pathToFileURL(require.resolve("deepagents")).href
);

const rule = (mode, paths, operations = ["read", "write"]) => ({ operations, paths, mode });
const RULES = {
  "deny a tree": [rule("deny", ["/secrets/**"])],
  "deny one level": [rule("deny", ["/secrets/*"])],
  "deny one file": [rule("deny", ["/secrets/key.txt"])],
  "deny by extension": [rule("deny", ["/**/*.key"])],
  "deny reading only": [rule("deny", ["/secrets/**"], ["read"])],
  "deny writing only": [rule("deny", ["/secrets/**"], ["write"])],
  "an exception first": [rule("allow", ["/secrets/pub/**"]), rule("deny", ["/secrets/**"])],
  "an exception too late": [rule("deny", ["/secrets/**"]), rule("allow", ["/secrets/pub/**"])],
  "only a workspace": [rule("allow", ["/desk/**"]), rule("deny", ["/**"])],
  "in braces": [rule("deny", ["/{secrets,private}/**"])],
  "by a class": [rule("deny", ["/[sp]*/**"])],
  "by a negated class": [rule("deny", ["/[^w]*/**"])],
  "by a question mark": [rule("deny", ["/secret?/key.txt"])],
  "dot files": [rule("deny", ["/**/.env"])],
  "a tree within": [rule("deny", ["/**/private/**"])],
  "allowed by a class": [rule("allow", ["/[sp]*/**"]), rule("deny", ["/**"])],
  "allowed by an extension": [rule("allow", ["/**/*.txt", "/**/*.key"]), rule("deny", ["/**"])],
  "allowed in braces": [rule("allow", ["/{secrets,work}/**"]), rule("deny", ["/**"])],
  everything: [rule("deny", ["/**"])],
  nothing: [],
  "two patterns": [rule("deny", ["/secrets/**", "/desk/*.key"])],
  "without a mode": [
    { operations: ["read", "write"], paths: ["/secrets/**"] },
    rule("deny", ["/**"]),
  ],
};
const PATHS = [
  "/secrets",
  "/secrets/key.txt",
  "/secrets/pub/a.txt",
  "/secrets/deep/er/key.txt",
  "/secretsauce/a.txt",
  "/Secrets/key.txt",
  "/private/x",
  "/desk/a.txt",
  "/desk/a.key",
  "/desk/.env",
  "/desk/private/x",
  "/.env",
  "/a.key",
  "/x",
];

/** Rows in which ours refuses and theirs does not. */
function stricter(name, operation, path, rules) {
  const denied = (what) =>
    rules.some((one) => one.mode === "deny" && one.operations.includes(what)) && what;
  if (
    operation === "write" &&
    name === "deny reading only" &&
    denied("read") &&
    /^\/secrets(\/|$)/.test(path)
  ) {
    return "a write tells whether the file exists, and that may not be read";
  }
  const depth = path.split("/").length - 1;
  if (
    /^(deny by extension|dot files|a tree within)$/.test(name) &&
    path.startsWith("/") &&
    depth <= 2
  ) {
    return "`/**/` may stand for no directory at all, as everywhere else in a glob";
  }
  if (/^by a (negated )?class$/.test(name) && depth === 1) {
    return "`/**` behind a wildcard covers the directory's own name, as it does behind a plain name";
  }
  if (name === "allowed in braces" && depth === 1) {
    return "an allowing rule reads its pattern narrowly";
  }
  return undefined;
}

/** A backend for their middleware on which everything succeeds. */
const open = {
  ls: () => ({ files: [] }),
  read: () => ({ content: "text" }),
  readRaw: () => ({
    data: { content: "text", mimeType: "text/plain", created_at: "", modified_at: "" },
  }),
  grep: () => ({ matches: [] }),
  glob: () => ({ files: [] }),
  write: (path) => ({ path }),
  edit: (path) => ({ path, occurrences: 1 }),
};

async function theirs(permissions, operation, path) {
  const { tools } = createFilesystemMiddleware({ backend: open, permissions });
  const [name, args] =
    operation === "read"
      ? ["read_file", { file_path: path }]
      : ["write_file", { file_path: path, content: "x" }];
  const call = { name, args, id: "1", type: "tool_call" };
  const answer = await tools
    .find((tool) => tool.name === name)
    .invoke(call, { state: { files: {}, messages: [] } });
  const content = typeof answer.content === "string" ? answer.content : "";
  if (answer.status === "error") assert.match(content, /permission denied/);
  return answer.status === "error" ? "deny" : "allow";
}

async function ours(permissions, operation, path) {
  const inner = new StateBackend({ files: operation === "read" ? { [path]: "x" } : {} });
  const backend = withPolicy(inner, { permissions });
  const answer = await (operation === "read" ? backend.read(path) : backend.write(path, "x"));
  assert.ok(answer.error === undefined || answer.code === "permission_denied", answer.error);
  return answer.error === undefined ? "allow" : "deny";
}

let rows = 0;
for (const [name, rules] of Object.entries(RULES)) {
  test(`the same decisions: ${name}`, async () => {
    for (const path of PATHS) {
      for (const operation of ["read", "write"]) {
        const [peer, own] = [
          await theirs(rules, operation, path),
          await ours(rules, operation, path),
        ];
        rows += 1;
        if (peer === own) continue;
        const why = stricter(name, operation, path, rules);
        assert.ok(
          own === "deny" && why,
          `${operation} ${path}: deepagents says ${peer}, ours ${own}`,
        );
      }
    }
  });
}

test("the table has at least 100 rows", () => {
  assert.ok(rows >= 100, `${rows}`);
});
