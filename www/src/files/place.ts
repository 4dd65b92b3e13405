// The line at which a file should be shown: set by who opens it, taken by the editor.

import { signal } from "@preact/signals";
import { go } from "../ui/route";

export const place = signal<{ path: string; line: number } | undefined>(undefined);

export function openAt(path: string, line?: number) {
  place.value = line === undefined ? undefined : { path, line };
  go("files", path);
}
