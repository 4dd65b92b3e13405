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

/** Calls into wasm. */
export function enter<T>(call: () => T): T {
  const stack = instance().__stack_pointer;
  const top = stack.value;
  try {
    return call();
  } catch (error) {
    stack.value = top;
    const message = lastPanic;
    lastPanic = undefined;
    if (message !== undefined || error instanceof WebAssembly.RuntimeError) {
      throw new KitbagPanic(
        `kitbag met a defect of its own: ${message ?? (error as Error).message}. Other calls and backends go on working; please report it.`,
        { cause: error },
      );
    }
    throw error;
  }
}
