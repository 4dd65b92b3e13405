// Deliberate bugs: one place of the built package that guards something, without the guard. Each must be caught
// by a seed. Numbers behind names are the bundler's, so patterns leave them open.

const CORE = "core.cjs";

/** Places by the name of the bug: in `file` (its beginning), what matches `from` becomes `to`; `seed` caught it once. */
export const MUTATIONS = {
  // ts/tool/changes.ts
  "diff-shows-hidden": {
    seed: 10,
    file: CORE,
    from: /allowed = await shownChanges\(given\d*, some, rulesOf\d*\(call\d*\)\)/,
    to: "allowed = some",
  },
  "undo-of-hidden": {
    seed: 27,
    file: CORE,
    from: /return paths\.some\(\(path\) => !shown\d*\.has\(path\)\) \?/,
    to: "return false ?",
  },
  "undo-without-rules": {
    seed: 201,
    file: CORE,
    from: /let guarded(\d*) = await rulesOf\d*\(call\d*\)\(target\)/,
    to: "let guarded$1 = target",
  },
  "commit-of-hidden": {
    seed: 3,
    file: CORE,
    from: /allowed = await shownChanges\(turn, seen\.changes, rules\)/,
    to: "allowed = seen.changes",
  },
  "names-of-changes-raw": {
    seed: 60,
    file: CORE,
    from: /(some = paths\.slice\(0, NAMED\d*\))\.map\(visible\)/,
    to: "$1",
  },
  // ts/backend/patch-names.ts
  "names-in-patches-raw": {
    seed: 22,
    file: CORE,
    from: /return quoted\d* === name \? name : `"\$\{quoted\d*\}"`/,
    to: "return name",
  },
  "quotes-in-patches-kept": {
    seed: 0,
    file: CORE,
    from: /return read\d*\.name;/,
    to: "return written;",
  },
  // ts/core/own.ts, ts/foreign/guard.ts
  "own-by-case": {
    seed: 7,
    file: CORE,
    from: /\|kitbag\|ki\[0-9a-f\]\{4\}~\/i/,
    to: "|kitbag|ki[0-9a-f]{4}~/",
  },
  "own-listed": {
    seed: 5,
    file: CORE,
    from: /!rows\d*\.some\(\(row\) => isOwn\(row\?\.path\)\)/,
    to: "true",
  },
  "own-opened": {
    seed: 5,
    file: CORE,
    from: /isOwn\(path\) \? void 0 : path : isOurs/,
    to: "path : isOurs",
  },
  "deceptive-created": {
    seed: 14,
    file: CORE,
    from: /typeof path == "string" \? deception\(path\) : void 0/,
    to: "void 0",
  },
  // ts/backend/policy.ts
  "watch-without-rules": {
    seed: 14,
    file: CORE,
    from: /\(permissions \?\? defaultMode\) && \{ shows:/,
    to: "false && { shows:",
  },
  // ts/adapter/mcp.ts and below
  "roots-not-told": {
    seed: 5,
    file: "mcp.js",
    from: /throw new Error\("The client has roots, but did not tell them[^"]*"\)/,
    to: 'return { roots: [{ uri: "file:///tree/" }] }',
  },
  "roots-wide": {
    seed: 0,
    file: "mcp.js",
    from: /paths: \["\/\*", "\/\*\/\*\*"\], mode: "deny"/,
    to: 'paths: ["/*", "/*/**"], mode: "allow"',
  },
  "edit-unread": {
    seed: 5,
    file: "mcp.js",
    from: /!askedBy\(extra\)\.stateless \|\| own\.requireReadBeforeEdit/,
    to: "own.requireReadBeforeEdit",
  },
  "resources-without-rules": {
    seed: 0,
    file: "mcp.js",
    from: /adaptBackendProtocol\(await guarded\(extra\)\)/,
    to: "adaptBackendProtocol(backend)",
  },
  "notifications-without-rules": {
    seed: 5,
    file: "mcp.js",
    from: /\? watchResources\(server, current, guarded\)/,
    to: "? watchResources(server, current, async () => backend)",
  },
  "resource-names-raw": {
    seed: 0,
    file: "shared-",
    from: /name: visibleName\(path\)/,
    to: "name: path",
  },
  "structured-names-raw": {
    seed: 5,
    file: "mcp.js",
    from: /path: visibleName\d*\(file\.path\)/,
    to: "path: file.path",
  },
  // ts/adapter/anthropic, openai, shell, transfer
  "own-in-editor": {
    seed: 8,
    file: "anthropic.js",
    from: /files = adaptBackendProtocol\(found\)/,
    to: "files = found",
  },
  "editor-names-raw": {
    seed: 39,
    file: "anthropic.js",
    from: /inside: \(path\) => path, name: visibleName\d*/,
    to: "inside: (path) => path, name: (path) => path",
  },
  "patch-editor-names-raw": {
    seed: 44,
    file: "openai.js",
    from: /path: visibleName\d*\(path\) \}, steps/,
    to: "path }, steps",
  },
  "own-in-shell": {
    seed: 5,
    file: "just-bash.js",
    from: /outside\(isOurs \? files : adaptBackendProtocol\(files\)\)/,
    to: "outside(files)",
  },
  "find-ends-the-process": {
    seed: 50,
    file: "just-bash.js",
    from: /return await this\.#rows\(path\);\s*\} catch \((\w+)\) \{/,
    to: "return await this.#rows(path);\n} catch ($1) {\nthrow $1;",
  },
  "own-in-archives": {
    seed: 5,
    file: "shared-",
    from: /this\.#backend = adaptBackendProtocol\(backend\)/,
    to: "this.#backend = backend",
  },
};
