// The entry that only the testing variant of the package has: panics on demand, through the very
// doors that every other call takes.

import { settled } from "../../pkg-template/src/core/call.js";
import { enter, glue } from "../../pkg-template/src/core/instance.js";

const testing = glue as unknown as { panic_now(): void; panic_later(): number };

export function panicNow(): void {
  enter(() => testing.panic_now());
}

export function panicLater(): Promise<unknown> {
  return settled(
    () => testing.panic_later(),
    () => undefined,
  );
}
