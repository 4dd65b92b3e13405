// The component over kitbag-wasi, which gets directories of this machine from jco's WASI.

import { WASI } from "../../scripts/lib/component.mjs";
import { ofSuite, transpiled } from "./glue.mjs";
import { make } from "./load.mjs";

const makeHost = await transpiled(WASI, "wasi", "jco-wasi");
const { WASIShim } = await ofSuite("@bytecodealliance/preview2-shim/instantiation");

/** kitbag-wasi, to which these directories are open: `{ "/data": "/tmp/here" }`. `wasi` replaces interfaces. */
export function wasi(preopens, wasi = {}) {
  const shim = new WASIShim({ sandbox: { preopens } });
  return makeHost({ ...shim.getImportObject(), ...wasi });
}

/** An instance of the component with this host: `{ Backend, … }`. */
export function over({ clock, random, shell, rules, storage }) {
  const { backends, tools, turns } = make({
    "kitbag:files/clock": clock,
    "kitbag:files/random": random,
    "kitbag:files/shell": shell,
    "kitbag:files/rules": rules,
    "kitbag:files/storage": storage,
  });
  return { Backend: backends.Backend, ToolSet: tools.ToolSet, Turn: turns.Turn };
}
