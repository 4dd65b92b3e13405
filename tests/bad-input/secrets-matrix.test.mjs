// What was configured (keys, tokens, passwords, hidden names) is looked for in everything that can
// be shown of a backend: results, stacks, console lines, audit records, `inspect` and JSON of the
// objects. Every subject, under every fault, with every operation.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { CALLS, closed, PATIENT, SECRETS, SUBJECTS } from "../fuzz/subjects.mjs";
import { createFileTools, ringAudit, StateBackend, withPolicy } from "../lib/kitbag.mjs";

const tokens = Object.values(SECRETS);

/** Fails if any of the texts holds a secret. */
function hides(what, ...texts) {
  for (const text of texts) {
    for (const token of tokens) {
      for (const form of [token, encodeURIComponent(token), btoa(token)]) {
        assert.ok(!text.includes(form), `${what} shows ${form}: ${text.slice(0, 2_000)}`);
      }
    }
  }
}

/** Everything of a value that a program might print. */
const printed = (value) => [
  inspect(value, { depth: 12 }),
  JSON.stringify(value, (_, one) => (typeof one === "bigint" ? `${one}` : one)) ?? "",
  value instanceof Error ? `${value.stack}` : "",
  value?.cause instanceof Error ? `${value.cause.stack}` : "",
];

/** The headers and the address of a request, which services like to repeat. */
function echo({ input, init } = {}) {
  const headers = [...new Headers(init?.headers)].map(([name, value]) => `${name}: ${value}`);
  return `${input} ${headers.join("\n")}`;
}

const response = (status, body, headers) => new Response(body, { status, headers });
const error = (message) =>
  `<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>${message
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")}</Message><Token-0>${SECRETS.sessionToken}</Token-0></Error>`;
const never = () => new Promise(() => undefined);

/** What a host may do to a call; those of `fetch` also see the request. */
const FAULTS = {
  "nothing is wrong": (name, call) => call(),
  throws: () => {
    throw new Error("the host failed");
  },
  "rejects with a text": () => Promise.reject("the host failed"),
  "the answer is lost": async (name, call) => {
    await call();
    throw new Error("socket hang up");
  },
  "answers nonsense": () => ({ odd: true }),
  "answers nothing": () => undefined,
  hangs: never,
  "refuses and repeats the request": (name, call, details) =>
    name === "fetch" ? response(403, error(echo(details))) : Promise.reject(new Error("403")),
  "fails and repeats the request": (name, call, details) =>
    name === "fetch" ? response(500, error(echo(details))) : Promise.reject(new Error("500")),
  "repeats the request as plain text": (name, call, details) =>
    name === "fetch" ? response(401, echo(details)) : Promise.reject(new Error("401")),
  "repeats the request as JSON": (name, call, details) =>
    name === "fetch"
      ? response(400, JSON.stringify({ detail: echo(details) }))
      : Promise.reject(new Error("400")),
  "redirects to an address with the key": (name) =>
    name === "fetch"
      ? response(307, "", { location: `https://x:${SECRETS.secretAccessKey}@other/` })
      : Promise.reject(new Error("307")),
  "answers with broken XML": (name, call, details) =>
    name === "fetch" ? response(200, `<a>${echo(details)}`) : [],
  "names the request in its exception": (name, call, details) =>
    name === "fetch"
      ? Promise.reject(new TypeError(`fetch failed: ${details.input}`))
      : Promise.reject(new Error("refused")),
};

async function watched(run) {
  const lines = [];
  const kept = {};
  for (const name of ["log", "info", "warn", "error", "debug", "trace"]) {
    kept[name] = console[name];
    console[name] = (...given) => lines.push(given.map((one) => inspect(one)).join(" "));
  }
  try {
    return [await run(), lines];
  } finally {
    Object.assign(console, kept);
  }
}

const pairs = [];
for (const [name, make] of Object.entries(SUBJECTS)) {
  for (const [fault, host] of Object.entries(FAULTS)) {
    // Repeated for seconds, or without end; nothing secret is configured there.
    if (PATIENT.has(name) && fault !== "nothing is wrong") continue;
    pairs.push([name, fault, make, host]);
  }
}

for (const [name, fault, make, host] of pairs) {
  test(`${name}, if its host ${fault}: nothing configured is shown`, async () => {
    const subject = make(host);
    const { backend } = subject;
    const audit = ringAudit(1_000);
    const guarded = withPolicy(backend, { audit });
    const { tools } = createFileTools(guarded);
    const limit = { timeoutMs: 15 };
    try {
      const [, lines] = await watched(async () => {
        for (const [call, run] of Object.entries(CALLS)) {
          for (const target of [backend, guarded]) {
            const limited = new Proxy(target, {
              get: (object, key) => {
                const value = Reflect.get(object, key, object);
                if (typeof value !== "function") return value;
                const arity = { grep: 4, read: 3, write: 2, edit: 4, glob: 2 }[key] ?? 1;
                return (...given) => {
                  given[arity] = { ...given[arity], ...limit };
                  return value.apply(object, given);
                };
              },
            });
            const answer = await run(limited, "/a.txt", "text");
            hides(`${call}: its result`, ...printed(answer));
          }
        }
        if (fault !== "hangs") {
          for (const tool of tools) {
            const input = { path: "/a.txt", file_path: "/a.txt", pattern: "a", content: "b" };
            const said = await tool.execute(input).catch((thrown) => thrown);
            hides(`the tool ${tool.name}`, ...printed(said));
          }
        }
      });
      hides("the console", lines.join("\n"));
      for (const object of [backend, guarded, tools]) {
        hides("the object", inspect(object, { depth: 12, showHidden: true }), ...printed(object));
      }
      hides("the audit", ...printed(audit), ...printed(audit.records ?? []));
    } finally {
      closed(subject);
    }
  });
}

const HIDDEN = `/top/${SECRETS.hidden}/plan.txt`;
const RULES = {
  "permissions deny reading": {
    permissions: [{ operations: ["read"], paths: [`/top/${SECRETS.hidden}/**`], mode: "deny" }],
  },
};

for (const [rule, policy] of Object.entries(RULES)) {
  for (const [fault, breaks] of Object.entries({
    "nothing is wrong": () => undefined,
    "every read of it fails": () => ({ error: `disk of ${HIDDEN} is gone`, code: "unavailable" }),
    "its reads throw": () => {
      throw new Error(`EIO ${HIDDEN}`);
    },
  })) {
    test(`${rule}, if ${fault}: the hidden name shows in no listing, search or tool`, async () => {
      const inner = new StateBackend({ files: { [HIDDEN]: "text", "/top/b.txt": "text" } });
      const methods = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
      const host = {};
      for (const method of [...methods, "uploadFiles", "downloadFiles"]) {
        host[method] = (...given) => {
          if (given.flat(2).includes(HIDDEN)) {
            const answer = breaks();
            if (answer) return method.endsWith("Files") ? [answer] : answer;
          }
          return inner[method](...given);
        };
      }
      const guarded = withPolicy(host, policy);
      for (const answer of [
        await guarded.ls(`/top/${SECRETS.hidden}`.slice(0, 4)),
        await guarded.grep("text"),
        await guarded.glob("**/*.txt"),
        await guarded.grep("t.xt", "/", null, 1, { regex: true, before: 2 }),
      ]) {
        const text = printed(answer).join("\n");
        assert.ok(!text.includes("plan.txt"), text);
      }
      for (const tool of createFileTools(guarded).tools) {
        if (!["ls", "grep", "glob"].includes(tool.name)) continue;
        const said = await tool.execute({ path: "/top", pattern: "text" });
        assert.ok(!printed(said).join("\n").includes("plan.txt"), String(said));
      }
    });
  }
}
