// Any backend object as a handle: ours by the handle they have, everything else through its
// methods. A subclass or a patched object of ours counts as everything else, so that what it
// overrides is what gets called.

import foreign from "#chunk/foreign";
import { adaptBackendProtocol, adaptSandboxProtocol, isBackend } from "../adapt.js";
import { fastHandle } from "./handle.js";
import { enter, glue } from "./instance.js";

/** Lends the handle of a backend object to `use`. */
export function withHandle<T>(name: string, object: unknown, use: (handle: number) => T): T {
  const known = fastHandle(object);
  if (known !== undefined) return use(known);
  if (!isBackend(object)) {
    throw new TypeError(
      `${name} must be a backend: an object with the methods of BackendProtocolV2 (ls, read, grep, glob, write, edit) or of the first version`,
    );
  }
  const adapted = isRunner(object) ? adaptSandboxProtocol(object) : adaptBackendProtocol(object);
  foreign.load();
  const handle = enter(() => glue.foreign_new(adapted));
  try {
    return use(handle);
  } finally {
    // Whoever was given it holds it now.
    enter(() => glue.handle_drop(handle));
  }
}

function isRunner(object: object): boolean {
  const it = object as { execute?: unknown; id?: unknown };
  return typeof it.execute === "function" && typeof it.id === "string" && it.id !== "";
}
