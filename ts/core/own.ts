// Paths of the library's own files, where JavaScript is asked about them: in objects of other authors,
// and in changes that a host reports. `core/names.rs` knows their spellings.

import { enter, glue } from "./instance.js";

/** What every spelling of them has: the name, its short name of Windows, or a character beyond ASCII. */
const SUSPECT = /[^ -~]|kitbag|ki[0-9a-f]{4}~/i;

/** Whether a path, in any spelling, is that of a file which the library keeps for itself. */
export function isOwn(path: unknown): boolean {
  return typeof path === "string" && SUSPECT.test(path) && enter(() => glue.names_own(path));
}

/** Why a caller is refused such a path; the text of `names::CLOSED`. */
export const CLOSED =
  "'.kitbag' is for what kitbag itself keeps, such as journals and histories; no call reaches it";
