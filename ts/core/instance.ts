// The WebAssembly instance, its memory, and the handling of traps. Every call into WebAssembly goes
// through `enter`, which turns a trap into an ordinary Error and restores the stack pointer, so
// that a defect fails one call and nothing else.

import * as glue from "#glue";
import primary from "#primary";
import { regexIs, regexSource } from "#regex";
import type { Source } from "#source";
import { isGiven, moduleNamed } from "./modules.js";
import { KitbagPanic, OutOfMemory } from "./panic.js";
import { pause } from "./pause.js";

export { glue };

interface Exports {
  memory: WebAssembly.Memory;
  __stack_pointer: WebAssembly.Global<"i32">;
  __indirect_function_table: WebAssembly.Table;
  /** Throws if there is too little stack; the build adds it (`scripts/lib/room.mjs`). */
  stack_room: (more: number) => number;
}

let exports: Exports | undefined;
let bytes = new Uint8Array(0);
let view = new DataView(new ArrayBuffer(0));
let lastPanic: string | undefined;
let waker: ((task: number) => void) | undefined;
/** Number of nested calls into WebAssembly. */
let depth = 0;
/** Whether a trap ended a call whose borrows have not been released yet. */
let owed = false;
/** Why the instance cannot be used any more. */
let damaged: string | undefined;

let loadRegex: (() => void) | undefined;

/** Sets the function that loads the chunk `regex`, in builds that do not load it by themselves. */
export function loadRegexBy(load: () => void): void {
  loadRegex = load;
}

/** Loads the chunk `regex` if that is possible, and returns whether it is loaded. */
function hasRegex(): boolean {
  if (loadRegex !== undefined) {
    loadRegex();
    return true;
  }
  if (regexIs === "imported" || (regexIs === "given" && !isGiven("regex"))) return false;
  if (regexSource !== undefined) link("regex", regexSource);
  return true;
}

/** Sets the function that polls a task when WebAssembly wakes it. */
export function wakeBy(wake: (task: number) => void): void {
  waker = wake;
}

/** The instance; created at first use. */
export function instance(): Exports {
  if (exports) return exports;
  const made = glue.start(moduleNamed("kitbag", primary)) as Exports;
  glue.boot(
    (task: number) => waker?.(task),
    (message: string) => {
      lastPanic = message;
    },
    hasRegex,
    pause,
  );
  exports = made;
  return made;
}

/** Instantiates a chunk in the memory and table of the primary module. */
export function link(name: string, source: Source, together: readonly string[] = [name]): void {
  const { memory, __stack_pointer, __indirect_function_table } = instance();
  const shared = { memory, __stack_pointer, __indirect_function_table };
  new WebAssembly.Instance(moduleNamed(name, source, together), { __wasm_split: shared });
}

/**
 * The memory as bytes, valid until the next call into WebAssembly. When memory grows, the old view
 * gets length zero; testing for that is faster than asking for the memory each time.
 */
export function memory(): Uint8Array {
  if (bytes.length === 0) {
    const { buffer } = instance().memory;
    bytes = new Uint8Array(buffer);
    view = new DataView(buffer);
  }
  return bytes;
}

/** The memory as a DataView, valid until the next call into WebAssembly. */
export function numbers(): DataView {
  memory();
  return view;
}

/** Larger than any address in the stack. */
const WHOLE_STACK = 0xffffffff;

/**
 * Releases the borrows and locks of calls that a trap ended: of those with stack frames below
 * `top`, and all of them if no call is running. Returns whether the last one ran out of memory.
 */
function giveBack(top: number): boolean {
  const all = depth === 0;
  owed = true;
  try {
    const outcome = all ? glue.all_trapped() : glue.trapped(top);
    if (outcome === 2) {
      damaged =
        "kitbag's memory was left half changed where the stack ended, so no backend can be used. Reload the page or restart the process.";
    }
    if (all) owed = false;
    return outcome === 1;
  } catch {
    // There is not even enough stack for this; the next call tries again.
    return false;
  }
}

const OUT_OF_MEMORY =
  "There was not enough memory for this call, which was broken off. Other calls go on; ask for less at a time, or keep less.";

/** Calls into WebAssembly. */
export function enter<T>(call: () => T): T {
  const stack = instance().__stack_pointer;
  if (owed && depth === 0) giveBack(WHOLE_STACK);
  if (damaged !== undefined) throw new KitbagPanic(damaged);
  const top = stack.value;
  depth += 1;
  try {
    return call();
  } catch (error) {
    // If the glue throws after WebAssembly has returned, the stack pointer is unchanged.
    const unwound = stack.value !== top;
    stack.value = top;
    const message = lastPanic;
    lastPanic = undefined;
    const trapped =
      unwound ||
      message !== undefined ||
      (error as Error | undefined)?.name === "RuntimeError" ||
      error instanceof RangeError;
    if (!trapped) throw error;
    depth -= 1;
    // A request for more than the half of all memory never reaches the allocator.
    const exhausted = giveBack(top) || message?.includes("capacity overflow") === true;
    depth += 1;
    if (error instanceof RangeError && message === undefined) {
      throw new KitbagPanic(
        "The stack ended in this call, which was broken off. Other calls go on; call it from fewer functions inside one another.",
        { cause: error },
      );
    }
    if (exhausted) throw new OutOfMemory(OUT_OF_MEMORY, { cause: error });
    throw new KitbagPanic(
      `kitbag met a defect of its own: ${message ?? (error as Error).message}. Other calls go on; please report it.`,
      { cause: error },
    );
  } finally {
    depth -= 1;
    if (owed && depth === 0) giveBack(WHOLE_STACK);
  }
}

/**
 * How often a call asks for room inside itself: a call into WebAssembly needs up to 12 KB of stack. Parsing
 * expressions or a model's input needs more.
 */
export const ROOM = { plain: 0, deep: 2 } as const;

/** Thrown if the stack is nearly used up. Created in advance, as there is no stack for it then. */
export const noStack = new Error("There is too little stack left");

/**
 * Makes sure that there is enough stack for a call. An engine that runs out of stack throws in the
 * middle of a call in WebAssembly; here nothing has begun yet.
 */
export function needStack(more: number): void {
  const { stack_room } = instance();
  try {
    stack_room(more);
  } catch {
    throw noStack;
  }
}
