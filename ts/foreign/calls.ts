// A handle for any backend object: kitbag's own objects have one, all others are called through
// their methods. So is a subclass or a patched object of kitbag, so that overriding methods are
// called.

import foreign from "#chunk/foreign";
import { fastHandle, knownHandle } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { adaptedBy, isBackend, sandboxAdapted } from "./adapt.js";

/** Calls `use` with the handle of a backend object. */
export function withHandle<T>(name: string, object: unknown, use: (handle: number) => T): T {
  const known = fastHandle(object);
  if (known !== undefined) return use(known);
  if (!isBackend(object)) {
    throw new TypeError(
      `${name} must be a backend: an object with the methods of BackendProtocolV2 (ls, read, grep, glob, write, edit) or of the first version`,
    );
  }
  const adapted = isRunner(object) ? sandboxAdapted(object) : adaptedBy(name, object);
  const own = knownHandle(object);
  if (own !== undefined) {
    // For rules about paths; called when such a rule calls this object's methods.
    const refuseLinks = () => enter(() => glue.handle_refuse_links(own));
    Object.defineProperty(adapted, "refuseLinks", { value: refuseLinks });
  }
  foreign.load();
  const handle = enter(() => glue.foreign_new(adapted));
  try {
    return use(handle);
  } finally {
    // Whatever uses the backend has its own reference now.
    enter(() => glue.handle_drop(handle));
  }
}

function isRunner(object: object): boolean {
  const it = object as { execute?: unknown; id?: unknown };
  return typeof it.execute === "function" && typeof it.id === "string" && it.id !== "";
}
