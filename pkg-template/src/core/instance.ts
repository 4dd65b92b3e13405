// The one WebAssembly instance, its memory, and what happens when it traps. Every call into
// wasm goes through `enter`, which turns a trap into an ordinary Error and puts the stack
// pointer back, so that one defect costs one call and nothing else.

import * as glue from "#glue";
import primary from "#primary";
import type { Source } from "#source";
import { moduleNamed } from "./modules.js";
import { KitbagPanic } from "./panic.js";

export { glue };

interface Exports {
  memory: WebAssembly.Memory;
  __stack_pointer: WebAssembly.Global<"i32">;
  __indirect_function_table: WebAssembly.Table;
}

let exports: Exports | undefined;
let bytes = new Uint8Array(0);
let view = new DataView(new ArrayBuffer(0));
let lastPanic: string | undefined;
let waker: ((task: number) => void) | undefined;
/** Calls into wasm that are under way, one inside the other. */
let depth = 0;
/** Whether a trap ended a call whose borrows are not given back yet. */
let owed = false;
/** Why nothing here can be used any more. */
let damaged: string | undefined;

/** Says who polls a task that wasm wakes. */
export function wakeBy(wake: (task: number) => void): void {
  waker = wake;
}

/** The instance, made at the first use. */
function instance(): Exports {
  if (exports) return exports;
  const made = glue.initSync({ module: moduleNamed("kitbag", primary) }) as unknown as Exports;
  glue.boot(
    (task: number) => waker?.(task),
    (message: string) => {
      lastPanic = message;
    },
  );
  exports = made;
  return made;
}

/** Instantiates a chunk in the memory and table of the primary. */
export function link(name: string, source: Source): void {
  const { memory, __stack_pointer, __indirect_function_table } = instance();
  const shared = { memory, __stack_pointer, __indirect_function_table };
  new WebAssembly.Instance(moduleNamed(name, source), { __wasm_split: shared });
}

/**
 * The memory as bytes; good until the next call into wasm. Memory that has grown leaves a view of
 * no length behind, which is quicker to see than the memory is to ask.
 */
export function memory(): Uint8Array {
  if (bytes.length === 0) {
    const { buffer } = instance().memory;
    bytes = new Uint8Array(buffer);
    view = new DataView(buffer);
  }
  return bytes;
}

/** The memory as numbers; good until the next call into wasm. */
export function numbers(): DataView {
  memory();
  return view;
}

/** More than any address in the stack. */
const WHOLE_STACK = 0xffffffff;

/**
 * Gives back what calls that a trap ended had borrowed and locked: those with frames below `top`,
 * and with them all borrows there are, once no call is under way. Tells whether there was no memory
 * left for the last of them.
 */
function giveBack(top: number): boolean {
  const all = depth === 0;
  owed = true;
  try {
    const told = glue.trapped(top, all);
    if (told === 2) {
      damaged =
        "kitbag's memory was left half changed where the stack ended, so none of its backends can be used any more. Load the page or start the process again; please report it.";
    }
    if (all) owed = false;
    return told === 1;
  } catch {
    // There is no stack left even for this; the next call does it.
    return false;
  }
}

/** Calls into wasm. */
export function enter<T>(call: () => T): T {
  const stack = instance().__stack_pointer;
  if (owed && depth === 0) giveBack(WHOLE_STACK);
  if (damaged !== undefined) throw new KitbagPanic(damaged);
  const top = stack.value;
  depth += 1;
  try {
    return call();
  } catch (error) {
    // What is thrown by the glue, once wasm has returned, has left the stack as it was.
    const unwound = stack.value !== top;
    stack.value = top;
    const message = lastPanic;
    lastPanic = undefined;
    const trapped =
      unwound ||
      message !== undefined ||
      error instanceof WebAssembly.RuntimeError ||
      error instanceof RangeError;
    if (!trapped) throw error;
    depth -= 1;
    const exhausted = giveBack(top);
    depth += 1;
    if (error instanceof RangeError && message === undefined) {
      throw new KitbagPanic(
        "The stack ended in the midst of this call, which was broken off. Other calls and backends go on working; call it from fewer functions inside one another.",
        { cause: error },
      );
    }
    throw new KitbagPanic(
      exhausted
        ? "There was not enough memory for this call, which was broken off. Other calls and backends go on working; ask for less at a time, or let go of what is not needed."
        : `kitbag met a defect of its own: ${message ?? (error as Error).message}. Other calls and backends go on working; please report it.`,
      { cause: error },
    );
  } finally {
    depth -= 1;
    if (owed && depth === 0) giveBack(WHOLE_STACK);
  }
}

/**
 * Frames of JavaScript that take as much of the stack as a call into wasm needs, 64 bytes each at
 * least. What reads expressions or a model's input goes deeper. Looking takes 4 ns a frame.
 */
export const FRAMES = { plain: 100, deep: 500 } as const;

function frames(count: number): number {
  return count === 0 ? 0 : 1 + frames(count - 1);
}

/** Thrown where the stack is nearly used up. Made ahead: then there is no stack to make it. */
export const noStack = new Error("There is too little stack left");

/**
 * Makes sure that there is stack left for a call. An engine that runs out of it throws in the midst
 * of whatever wasm does just then; here nothing has begun yet.
 */
export function needStack(count: number): void {
  try {
    frames(count);
  } catch {
    throw noStack;
  }
}
