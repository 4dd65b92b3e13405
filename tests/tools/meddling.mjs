// Backends whose calls can be met by another writer: between what an adapter read and what it then
// changes, a test changes the files itself. One passes everything on and so counts as kitbag's own;
// one is an object that has the protocol's methods and nothing else, and answers with promises.

import { StateBackend } from "kitbag";

const METHODS = ["ls", "read", "readRaw", "grep", "glob", "write", "edit", "delete"];
const BATCHES = ["uploadFiles", "downloadFiles"];

/** What meddles: by method, what happens before its first call for which the test is true. */
function meddler(inner) {
  const plans = [];
  return {
    /** Before a call of `method` (its `nth`, from 1, that `about` accepts), `change` runs. */
    before(method, change, { nth = 1, about = () => true } = {}) {
      plans.push({ method, change, about, left: nth });
    },
    async met(method, given) {
      for (const plan of plans) {
        if (plan.method !== method || !plan.about(...given)) continue;
        plan.left -= 1;
        if (plan.left === 0) await plan.change(inner);
      }
    },
  };
}

/** Operations that kitbag's own backends make at once, so that nobody can come between. */
const WHOLE = new Set(["move", "copy", "append"]);
const unsupported = { error: "This one must be read and written", code: "unsupported" };

/** kitbag's own backend, met. It has its conditions, and no operation that moves or appends by itself. */
function ownBackend(files) {
  const inner = new StateBackend({ files });
  const { before, met } = meddler(inner);
  const backend = new Proxy(inner, {
    get(target, key) {
      const value = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      if (WHOLE.has(key)) return async () => unsupported;
      return async (...given) => {
        await met(key, given);
        return value.apply(target, given);
      };
    },
  });
  return { inner, backend, before };
}

/** Any object with the protocol's methods, met. It drops whatever the protocol does not know. */
function plainBackend(files) {
  const inner = new StateBackend({ files });
  const { before, met } = meddler(inner);
  const backend = {};
  for (const name of [...METHODS, ...BATCHES]) {
    const known = name === "edit" || name === "grep" ? 4 : 2;
    backend[name] = async (...given) => {
      await met(name, given);
      await Promise.resolve();
      return inner[name](...given.slice(0, name === "delete" ? 1 : known));
    };
  }
  return { inner, backend, before };
}

export const BACKENDS = [
  ["kitbag's own backend", ownBackend],
  ["an object that answers with promises", plainBackend],
];

/** Every file and its text, or its bytes in hexadecimal where it is not text. */
export function contentsOf(inner) {
  const out = {};
  for (const [path, { content }] of Object.entries(inner.snapshot())) {
    out[path] = typeof content === "string" ? content : Buffer.from(content).toString("hex");
  }
  return out;
}
