// Commands that the host runs: what a callback is given and what it answers.

import type { MaybePromise } from "../types.js";

/** Result of a callback that runs commands. */
export interface CommandOutput {
  /** Standard output. */
  stdout?: string | Uint8Array;
  /** Error output; kitbag marks each line with `[stderr]`. */
  stderr?: string | Uint8Array;
  /** Both as one text, if they cannot be separated; used instead of `stdout` and `stderr`. */
  output?: string | Uint8Array;
  /** Exit code; null if it is not known. */
  exitCode?: number | null;
  /** Whether the callback itself cut the output. */
  truncated?: boolean;
}

/** Limits of a command. */
export interface CommandLimits {
  /** Time limit in milliseconds; kitbag aborts `signal` then. 0 is no limit. */
  timeoutMs: number;
  /** Bytes of output that kitbag keeps; the rest can be dropped. */
  maxOutputBytes: number;
  /** Aborts when the time limit is reached, or when the caller has cancelled the call. */
  signal: AbortSignal;
}

/** A command, as the host's callback receives it. */
export interface CommandRequest extends CommandLimits {
  /** Text of the command, for a shell. */
  command: string;
  /** The folder to run in. */
  cwd: string;
  /** The complete environment of the command. */
  env: Record<string, string>;
}

/** Runs commands for LocalShellBackend; `nodeShell()` of `kitbag/node` returns one. */
export type ExecuteCallback = (request: CommandRequest) => MaybePromise<CommandOutput>;
