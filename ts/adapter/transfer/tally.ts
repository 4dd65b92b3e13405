// Counts of a transfer or an unpacking, and the result that is made of them.

import type { Refusal } from "./tree.js";

/** How far a transfer is. */
export interface TransferProgress {
  /** Files that were stored. */
  copied: number;
  /** Bytes of these files. */
  bytes: number;
  /** Files that were in the target already, with the same content. */
  equal: number;
  /** Files that are different in the target and were left so (`onConflict`). */
  skipped: number;
  /** Files that could not be copied. */
  failed: number;
  /** Files of the source, once they are counted. */
  totalFiles?: number;
  /** Bytes of the source, once they are counted and if the source lists sizes. */
  totalBytes?: number;
}

/** One file that could not be copied. */
export interface TransferFailure {
  /** Path in the target, or the name in the archive. */
  path: string;
  /** What was wrong. */
  error: string;
  /** The kind of error. */
  code: string;
}

/** Result of a transfer. `error` is absent if every file is now in the target, or was skipped. */
export interface TransferResult extends TransferProgress {
  /** What ended the transfer, or the first file that failed and how many more. Absent on success. */
  error?: string;
  /** The kind of error. Absent on success. */
  code?: string;
  /** The first 100 files that failed. */
  failures: TransferFailure[];
  /** Directories without files, which are not copied, because the protocol has only files. */
  emptyDirectories: number;
  /** With `links: "keep"`: links that lead out of the source's directory, or to nothing. */
  linksLeftOut?: number;
}

/** Most failures of a result. */
const SHOWN_FAILURES = 100;

/** What ends a transfer. */
export class Stop extends Error {
  readonly code: string;
  constructor(error: string, code: string) {
    super(error);
    this.code = code;
  }
}

/** What a result says of files that failed: the first one, and how many more. */
export function summary(
  [first]: readonly TransferFailure[],
  failed: number,
): { error?: string; code?: string } {
  if (!first) return {};
  const others = failed > 1 ? `; ${failed - 1} more failed` : "";
  return { error: `${first.path}: ${first.error}${others}`, code: first.code };
}

/** Counts files, and tells the caller. */
export class Tally {
  readonly result: TransferResult = {
    copied: 0,
    bytes: 0,
    equal: 0,
    skipped: 0,
    failed: 0,
    failures: [],
    emptyDirectories: 0,
  };
  readonly #signal: AbortSignal | undefined;
  readonly #told: ((progress: TransferProgress) => unknown) | undefined;

  constructor(options: {
    signal?: AbortSignal;
    onProgress?: (progress: TransferProgress) => unknown;
  }) {
    this.#signal = options.signal;
    this.#told = options.onProgress;
  }

  stored(bytes: number): void {
    this.result.copied += 1;
    this.result.bytes += bytes;
  }

  fail(path: string, { error, code }: Refusal): void {
    this.result.failed += 1;
    if (this.result.failures.length < SHOWN_FAILURES) {
      this.result.failures.push({ path, error, code });
    }
  }

  /** Ends the transfer if it was cancelled. */
  check(): void {
    if (!this.#signal?.aborted) return;
    throw new Stop("The transfer was cancelled; what it has stored stays", "timeout");
  }

  /** Calls `onProgress`. What it throws ends the transfer. */
  tell(): void {
    this.check();
    if (!this.#told) return;
    const { failures: _, emptyDirectories: __, ...progress } = this.result;
    this.#told(progress);
  }

  /** Runs a transfer to its end, whatever happens. */
  async run(work: () => Promise<void>): Promise<TransferResult> {
    try {
      this.check();
      await work();
    } catch (error) {
      const { message, code } = error as Partial<Stop>;
      this.result.error = message ?? String(error);
      this.result.code = error instanceof Stop ? code : "unavailable";
      return this.result;
    }
    return Object.assign(this.result, summary(this.result.failures, this.result.failed));
  }
}
