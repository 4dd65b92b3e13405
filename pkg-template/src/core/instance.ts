// The one WebAssembly instance, its memory, and what happens when it traps. Every call into
// wasm goes through `enter`, which turns a trap into an ordinary Error and puts the stack
// pointer back, so that one defect costs one call and nothing else.

import * as glue from "#glue";
import { KitbagPanic } from "./panic.js";

export { glue };

interface Exports {
  memory: WebAssembly.Memory;
  __stack_pointer?: WebAssembly.Global<"i32">;
}

let exports: Exports | undefined;
let attachNow: (() => void) | undefined;
let bytes = new Uint8Array(0);
let view = new DataView(new ArrayBuffer(0));
let lastPanic: string | undefined;

/** Takes the instance into use. Further calls change nothing. */
export function attach(instantiate: () => unknown, wake: (task: number) => void): void {
  if (exports) return;
  exports = instantiate() as Exports;
  glue.boot(wake, (message: string) => {
    lastPanic = message;
  });
}

/** Says how to take an instance into use once one is needed. */
export function attachLater(load: () => void): void {
  attachNow ??= load;
}

/** Whether an instance is there. */
export function attached(): boolean {
  return exports !== undefined;
}

function instance(): Exports {
  if (exports) return exports;
  attachNow?.();
  if (exports) return exports;
  throw new Error(
    'kitbag is not ready: with "kitbag/slim", call `await init()` or `initSync(module)` first',
  );
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
  const top = stack?.value;
  try {
    return call();
  } catch (error) {
    if (stack && top !== undefined) stack.value = top;
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
