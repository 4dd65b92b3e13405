// Whether storages are open and rules are loaded.

import { signal } from "@preact/signals";

export const ready = signal(false);
