// The handle (a number) of a backend object. It is stored only here, so that nothing a caller does
// to the object can change which backend it stands for.

import { enter, glue } from "./instance.js";

const handles = new WeakMap<object, number>();

const collected = new FinalizationRegistry<number>((handle) => {
  try {
    enter(() => glue.handle_drop(handle));
  } catch {
    // The whole instance is gone.
  }
});

/** Sets the handle of an object. The handle is dropped when the object is collected. */
export function own(object: object, handle: number): void {
  handles.set(object, handle);
  collected.register(object, handle);
}

/** Returns the handle of a kitbag object. */
export function handleOf(object: object): number {
  const handle = handles.get(object);
  if (handle === undefined)
    throw new TypeError("This method was called on something that is not a kitbag backend");
  return handle;
}

/** The handle of an object, if it is a kitbag object. */
export function knownHandle(object: object): number | undefined {
  return handles.get(object);
}

const plain = new WeakSet<object>();
const slow = new WeakSet<object>();

/** Marks an object whose methods do more than its handle, so that they must be called. */
export function methodsOnly(object: object): void {
  slow.add(object);
}

/** Marks a class whose direct instances may be used through their handle. */
// biome-ignore lint/complexity/noBannedTypes: a class is a Function here
export function plainClass(type: Function): void {
  plain.add(type.prototype);
}

/** The file methods of every backend. */
export const FILE_METHODS = [
  "ls",
  "read",
  "readRaw",
  "grep",
  "glob",
  "write",
  "edit",
  "delete",
  "uploadFiles",
  "downloadFiles",
] as const;
const METHODS = [...FILE_METHODS, "execute"] as const;

const originals = new WeakMap<object, Map<string, unknown>>();

/** Records the methods of a class, to detect later whether one was patched. */
function methodsOf(prototype: object): Map<string, unknown> {
  const methods = new Map<string, unknown>();
  for (const name of METHODS) methods.set(name, Reflect.get(prototype, name));
  return methods;
}

/** Records the final methods of a class; call it directly after the class. */
// biome-ignore lint/complexity/noBannedTypes: a class is a Function here
export function sealClass(type: Function): void {
  plainClass(type);
  originals.set(type.prototype, methodsOf(type.prototype));
}

/**
 * The handle of an object that may be used instead of its methods: only if its class is exactly
 * one of kitbag's and no method was overridden or patched.
 */
export function fastHandle(object: unknown): number | undefined {
  if (typeof object !== "object" || object === null) return undefined;
  const handle = handles.get(object);
  if (handle === undefined || slow.has(object)) return undefined;
  const prototype = Object.getPrototypeOf(object) as object | null;
  if (prototype === null || !plain.has(prototype)) return undefined;
  const known = originals.get(prototype);
  for (const name of METHODS) {
    const own = Object.getOwnPropertyDescriptor(object, name);
    // `execute` is defined on kitbag's own objects that run commands, and is not writable there.
    if (own !== undefined && (own.writable || own.configurable)) return undefined;
    if (known && Reflect.get(prototype, name) !== known.get(name)) return undefined;
  }
  return handle;
}
