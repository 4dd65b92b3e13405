// What a mirror is asked, and what it answers.

import type { CallOptions, IgnoreRules, Turn } from "kitbag";
import type { TransferFailure } from "../transfer/tally.js";

/** Options of `mirror`. */
export interface MirrorOptions {
  /** The directory of the backend that is mirrored. Default `/`. */
  from?: string;
  /** The directory where its files are written. Default `/`. */
  to?: string;
  /** Patterns of the files below these directories, such as `["src/**"]`. Default: all. */
  paths?: readonly string[];
  /** Leaves out what ignore files name, on both sides: `ignoreFiles()` of `kitbag/ignore`. */
  ignore?: IgnoreRules;
  /** Most files of either side; with more, nothing is sent or brought back. Default 10,000. */
  maxFiles?: number;
  /** Most bytes that are mirrored, and most that are brought back. Default 256 MiB. */
  maxBytes?: number;
  /**
   * What to do if the first `send` finds a file with other content: end it (`"error"`, the default),
   * or replace the file (`"overwrite"`).
   */
  onConflict?: "error" | "overwrite";
  /** Who makes the changes of the turns, for their receipts. Default `"mirror"`. */
  by?: string;
}

/** A tree and its copy where commands run; the result of `mirror`. */
export interface Mirror {
  /**
   * Makes the copy like the tree: sends what changed in the tree since the last time, and takes back there
   * what `collect` has brought back and the tree did not get. What was changed there since the last
   * `collect` stays, and is `waiting`. Never rejects.
   */
  send(options?: Pick<CallOptions, "signal">): Promise<{
    /** What ended it, or the first file that failed. Absent on success. */
    error?: string;
    /** The kind of error. Absent on success. */
    code?: string;
    /** Files that were sent. */
    sent: number;
    /** Their bytes. */
    bytes: number;
    /** Files that were deleted there. */
    removed: number;
    /** Files that were the same already. */
    equal: number;
    /** Files that were changed there and not collected, and so were left. */
    waiting: string[];
    /** Files that could not be sent. */
    failures: TransferFailure[];
  }>;
  /**
   * Brings what was changed in the copy since it was sent into a new turn over the tree, which does not
   * change before its `commit`. Never rejects.
   */
  collect(options?: Pick<CallOptions, "signal">): Promise<{
    /** What ended it, or the first file that failed. Absent on success. */
    error?: string;
    /** The kind of error. Absent on success. */
    code?: string;
    /** The changes, to be looked at and committed. Absent if the copy could not be read. */
    turn?: Turn;
    /** What the turn changes, as paths of the tree. */
    changed: Array<{
      /** The file. */
      path: string;
      /** What happened to it. `merged`: it was changed in the tree, too. */
      what: "created" | "changed" | "deleted" | "merged";
    }>;
    /** Files that the tree and the commands changed at the same place, or that are no texts. */
    conflicts: Array<{
      /** The file, which stays as the tree has it. */
      path: string;
      /** Where the turn has what the commands made of it. */
      copy: string;
    }>;
    /** Files that could not be brought back. */
    failures: TransferFailure[];
  }>;
}

/** What was sent. */
export type Sent = Awaited<ReturnType<Mirror["send"]>>;

/** What was brought back. */
export type Collected = Awaited<ReturnType<Mirror["collect"]>>;
