// Kinds of file systems, by the number that `statfs` tells on Linux.

/** Of this machine, whose changes are all made by this system, and have times: ext, XFS, Btrfs, F2FS. */
export const LOCAL: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010]);
/** Overlays: changes of what lies below them are not heard. */
export const OVERLAY = 0x794c7630;
/** Files in memory (tmpfs). */
const MEMORY = 0x01021994;

/** Whether no call waits for another machine or program. */
export function isNear(type: number): boolean {
  return LOCAL.has(type) || type === OVERLAY || type === MEMORY;
}
