// Windows refuses to replace or to delete a file that another program has open just then: a reader, an
// editor, a scanner for viruses. It is open for moments, so the change is tried again.

import { codeOf } from "./host.js";
import type { FsLike } from "./shape.js";

const BUSY = /^(EPERM|EACCES|EBUSY)$/;

/** Longest that one change is tried, in milliseconds. */
const LONGEST_MS = 2000;

/** A file system whose `rename` and `unlink` wait for programs that have the file open. */
export function patient(fs: FsLike): FsLike {
  /** Whether the refusal may end: what is there is a file, and may be written. */
  const mayEnd = async (path: string) => {
    const stats = await fs.lstat(path, { bigint: true }).catch(() => undefined);
    return stats === undefined || (stats.isFile() && (stats.mode & 0o200n) !== 0n);
  };
  const patiently = async (path: string, change: () => Promise<void>): Promise<void> => {
    const until = Date.now() + LONGEST_MS;
    for (let wait = 1; ; wait = Math.min(2 * wait, 50)) {
      try {
        return await change();
      } catch (error) {
        if (!BUSY.test(codeOf(error)) || Date.now() > until || !(await mayEnd(path))) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * wait));
    }
  };
  return Object.assign(Object.create(fs) as FsLike, {
    rename: (from: string, to: string) => patiently(to, () => fs.rename(from, to)),
    unlink: (path: string) => patiently(path, () => fs.unlink(path)),
  });
}
