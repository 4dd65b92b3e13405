// The number behind an object. A class of ours keeps its handle here and nowhere else, so that
// nothing a caller does to the object can change which backend it stands for.

import { enter, glue } from "./instance.js";

const handles = new WeakMap<object, number>();

const collected = new FinalizationRegistry<number>((handle) => {
  try {
    enter(() => glue.handle_drop(handle));
  } catch {
    // The instance is gone with everything in it.
  }
});

/** Says which handle an object stands for. The handle is let go when the object is collected. */
export function own(object: object, handle: number): void {
  handles.set(object, handle);
  collected.register(object, handle);
}

/** The handle of an object of ours. */
export function handleOf(object: object): number {
  const handle = handles.get(object);
  if (handle === undefined)
    throw new TypeError("This method was called on something that is not a kitbag backend");
  return handle;
}

const plain = new WeakSet<object>();
const slow = new WeakSet<object>();

/** Says that an object does more in its methods than its handle knows of. */
export function methodsOnly(object: object): void {
  slow.add(object);
}

/** Says that instances of exactly this class may be used by their handle. */
// biome-ignore lint/complexity/noBannedTypes: a class is a Function here
export function plainClass(type: Function): void {
  plain.add(type.prototype);
}

/** What every backend can be asked. */
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

/** Notes a class's methods as they are now, to see later whether one was patched. */
function methodsOf(prototype: object): Map<string, unknown> {
  const methods = new Map<string, unknown>();
  for (const name of METHODS) methods.set(name, Reflect.get(prototype, name));
  return methods;
}

/** Seals what a class's methods are; call it right behind the class. */
// biome-ignore lint/complexity/noBannedTypes: a class is a Function here
export function sealClass(type: Function): void {
  plainClass(type);
  originals.set(type.prototype, methodsOf(type.prototype));
}

/**
 * The handle of an object that may be used in its place: only when its class is exactly one of
 * ours and none of its methods was overridden or patched. Otherwise its methods must be called.
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
    // `execute` is put on objects of ours that can run commands, and cannot be replaced there.
    if (own !== undefined && (own.writable || own.configurable)) return undefined;
    if (known && Reflect.get(prototype, name) !== known.get(name)) return undefined;
  }
  return handle;
}
