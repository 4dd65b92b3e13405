// A directory that is copied must not have its copy in it.

import type { AnyBackend } from "kitbag";
import { Stop } from "./tally.js";
import type { Tree } from "./tree.js";

/** Refuses a target inside its source: each copy would have the one before in it. */
export async function notInside(
  source: AnyBackend,
  target: AnyBackend,
  from: Tree,
  to: Tree,
): Promise<void> {
  const [outer, inner] = await Promise.all([from.real(), to.real()]);
  const onDisk = outer !== undefined && inner !== undefined;
  const inside = onDisk
    ? inner !== outer && inner.startsWith(`${outer.replace(/\/$/, "")}/`)
    : source === target && to.path("") !== from.path("") && to.path("").startsWith(from.path(""));
  if (!inside) return;
  const error = `The target ${to.path("")} is inside the source; copy to a directory outside of it`;
  throw new Stop(error, "invalid_argument");
}
