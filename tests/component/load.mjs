// The component in Node, by way of jco. `instance()` gives one with a host of its own.

import { COMPONENT } from "../../scripts/lib/component.mjs";
import { transpiled } from "./glue.mjs";

export { COMPONENT };

/** Makes an instance of the component with these imports. */
export const make = await transpiled(COMPONENT, "kitbag", "jco");

/** What a class of the host must be, so that jco takes its objects for volumes. */
export class Volume {}

/** A host with a clock and a machine without commands. */
export const host = {
  now: () => BigInt(Date.now()) * 1000n,
  bits: () => crypto.getRandomValues(new BigUint64Array(1))[0],
  execute() {
    throw { code: "unsupported", message: "there are no commands" };
  },
  decide: () => false,
  inspect: () => ({ tag: "pass" }),
  audit() {},
};

/** An instance of the component: its resources, and `undo`. */
export function instance(given = {}) {
  const { now, bits, execute, decide, inspect, audit } = { ...host, ...given };
  const { backends, tools, turns, history, provenance } = make({
    "kitbag:files/clock": { now },
    "kitbag:files/random": { bits },
    "kitbag:files/shell": { execute },
    "kitbag:files/rules": { decide, inspect, audit },
    "kitbag:files/storage": { Volume },
  });
  return {
    Backend: backends.Backend,
    ToolSet: tools.ToolSet,
    Turn: turns.Turn,
    undo: turns.undo,
    History: history.History,
    Conversation: provenance.Conversation,
  };
}
