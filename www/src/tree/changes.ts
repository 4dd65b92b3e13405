// A counter that rises whenever files may have changed: views that show files read it.

import { signal } from "@preact/signals";

export const changed = signal(0);

let pending = false;

/** Several changes in one frame are one. */
export function announceChange() {
  if (pending) return;
  pending = true;
  setTimeout(() => {
    pending = false;
    changed.value += 1;
  }, 30);
}
