// The handle (a number) of a backend object. It is stored only here, so that nothing a caller does
// to the object can change which backend it stands for.

import { enter, glue } from "./instance.js";
import { OPERATIONS } from "./operations.js";

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
  collected.register(object, handle, object);
}

/** Drops the handle of an object now, and not when it is collected. Calls are refused afterwards. */
export function release(object: object): void {
  const handle = handleOf(object);
  collected.unregister(object);
  enter(() => glue.handle_drop(handle));
}

/** Lets a `using` declaration call `dispose`, on hosts that have such declarations. */
export function disposable(prototype: { dispose(): void }): void {
  const { dispose } = Symbol as { dispose?: symbol };
  if (dispose === undefined) return;
  Object.defineProperty(prototype, dispose, {
    value(this: { dispose(): void }) {
      this.dispose();
    },
  });
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

const slow = new WeakSet<object>();

/** Marks an object whose methods do more than its handle, so that they must be called. */
export function methodsOnly(object: object): void {
  slow.add(object);
}

const MEMBERS = [...OPERATIONS, "id", "capability"] as const;

/** A member as it is defined: a value, or a getter. */
type Member = Pick<PropertyDescriptor, "value" | "get">;

const classes = new WeakMap<object, Map<string, Member | undefined>>();
const ownMembers = new WeakMap<object, object>();

/** The definition of a member on a prototype or above it. */
function definition(prototype: object | null, name: string): Member | undefined {
  for (let at = prototype; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found) return found;
  }
  return undefined;
}

/** Records the final members of a class; call it directly after the class. */
// biome-ignore lint/complexity/noBannedTypes: a class is a Function here
export function sealClass(type: Function): void {
  const members = MEMBERS.map((name) => [name, definition(type.prototype, name)] as const);
  classes.set(type.prototype, new Map(members));
}

/** Defines members on an object of kitbag, which its handle has as well. They cannot be replaced. */
export function defineMembers(object: object, members: Record<string, unknown>): void {
  ownMembers.set(object, { ...ownMembers.get(object), ...members });
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(object, name, { value, enumerable: name === "id" });
  }
}

/**
 * The handle of an object that may be used instead of its methods: only if its class is exactly
 * one of kitbag's and no member was overridden, patched or redefined, in whatever way. Definitions
 * are compared, and no getter is called, because a getter may answer differently the next time.
 */
export function fastHandle(object: unknown): number | undefined {
  if (typeof object !== "object" || object === null) return undefined;
  const handle = handles.get(object);
  if (handle === undefined || slow.has(object)) return undefined;
  const prototype = Object.getPrototypeOf(object) as object;
  const known = classes.get(prototype);
  if (!known) return undefined;
  const defined = ownMembers.get(object) as Record<string, unknown> | undefined;
  for (const name of MEMBERS) {
    const own = Object.getOwnPropertyDescriptor(object, name);
    if (own) {
      const ours = defined !== undefined && Object.hasOwn(defined, name);
      if (!ours || own.get || own.value !== defined[name]) return undefined;
    }
    const now = definition(prototype, name);
    const before = known.get(name);
    if (now?.value !== before?.value || now?.get !== before?.get) return undefined;
  }
  return handle;
}
