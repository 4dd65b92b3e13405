// Paths of the library's own files, where JavaScript is asked about them: in objects of other authors,
// and in changes that a host reports. `core/names.rs` has the same rules; a test compares the two.

import { UNSEEN } from "./visible.js";

const SHORT = /^(kitbag|ki[0-9a-f]{4})~\d+$/;

function isRoom(segment: string): boolean {
  const name = (segment.split(":")[0] ?? "")
    .replace(UNSEEN, "")
    .replace(/[. ]+$/, "")
    .replace(/[\u0130\u0131]/g, "i")
    .toLowerCase();
  return name === ".kitbag" || SHORT.test(name);
}

/** Whether a path, in any spelling, is that of a file which the library keeps for itself. */
export function isOwn(path: unknown): boolean {
  return typeof path === "string" && /[^ -~]|k/i.test(path) && path.split(/[/\\]/).some(isRoom);
}

/** Why a caller is refused such a path; the text of `names::CLOSED`. */
export const CLOSED =
  "'.kitbag' is for what kitbag itself keeps, such as journals and histories; no call reaches it";
