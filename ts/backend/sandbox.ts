// SandboxBackend: a machine that is reached only by running commands on it.

import chunk from "#chunk/sandbox";
import { Options } from "../core/checks.js";
import type { CommandLimits, CommandOutput } from "../core/command.js";
import { SandboxGiven } from "../core/descriptions.js";
import { create, take } from "../core/given.js";
import { sealClass } from "../core/handle.js";
import { glue } from "../core/instance.js";
import type { ExecuteResponse, MaybePromise } from "../types.js";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";
import { type Runner, underLimits } from "./execute.js";
import { secondsOf } from "./local-shell.js";

/** Options of SandboxBackend. */
export interface SandboxBackendOptions {
  /** Identifies the sandbox. */
  id: string;
  /** Runs a command in the sandbox, with a POSIX shell. */
  execute(command: string, limits: CommandLimits): MaybePromise<CommandOutput>;
  /** Stores files, if the sandbox has its own way. Default: through the shell. */
  uploadFiles?(files: Array<[string, Uint8Array]>): MaybePromise<
    Array<{
      /** The path as it was given. */
      path?: string;
      /** What was wrong; null or nothing on success. */
      error: string | null | undefined;
    }>
  >;
  /** Fetches files, if the sandbox has its own way. Default: through the shell. */
  downloadFiles?(paths: string[]): MaybePromise<
    Array<{
      /** The path as it was given. */
      path?: string;
      /** The bytes of the file; null on failure. */
      content: Uint8Array | null;
      /** What was wrong; null or nothing on success. */
      error: string | null | undefined;
    }>
  >;
  /** The directory of the sandbox that is `/` for this backend. Default `/`. */
  rootDir?: string;
  /** Time limit of a command, in seconds; 0 is no limit. Default 120. */
  timeout?: number;
  /** Bytes of output to keep of a command; the rest is cut. Default 100,000. */
  maxOutputBytes?: number;
  /** Larger files are neither read nor written, in bytes. Default 10 MiB. */
  maxFileBytes?: number;
  /** What `write` does if the file exists: fail (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
}

/** Limit of the output of commands that kitbag itself sends, in bytes. */
const OWN_OUTPUT = 16 * 1024 * 1024;

/**
 * Files and commands of a machine that is reached only by running commands on it, such as a
 * container or a hosted sandbox.
 *
 * @example
 * const backend = new SandboxBackend({
 *   id: container.id,
 *   execute: async (command) => container.exec(["sh", "-c", command]),
 * });
 */
export class SandboxBackend extends Backend {
  /** Identifies the sandbox. */
  declare readonly id: string;
  /**
   * Runs a command in the sandbox. Never rejects: a command that could not run has an `error`; one
   * that ran into the time limit has the exit code 124.
   */
  declare readonly execute: (command: string, options?: ExecuteOptions) => Promise<ExecuteResponse>;

  /** Throws a `TypeError` that names the wrong option. No command is run yet. */
  constructor(options: SandboxBackendOptions) {
    const given = new Options("SandboxBackend", options);
    const values = take(given, SandboxGiven);
    const { rootDir, uploadFiles, downloadFiles } = values;
    const control = [...rootDir].some((letter) => letter < " ");
    if (!rootDir.startsWith("/") || control || /\/\.\.?(\/|$)/.test(rootDir)) {
      given.refuse("rootDir", "an absolute path of the sandbox", rootDir);
    }
    const timeoutMs = secondsOf(given, "timeout", 120);
    const maxOutputBytes = given.amount("maxOutputBytes") ?? 100_000;
    given.done();
    // Called as methods of the options object, because they may use `this`.
    const bound = (method: unknown) => method && (method as () => unknown).bind(options);
    const run = bound(values.execute) as Runner;
    const begin = (maxBytes: number) => (command: string, ownTimeout?: number) =>
      underLimits(run, command, ownTimeout ?? timeoutMs, maxBytes);
    chunk.load();
    const all = {
      ...values,
      execute: begin(maxOutputBytes),
      uploadFiles: bound(uploadFiles),
      downloadFiles: bound(downloadFiles),
      ownExecute: begin(OWN_OUTPUT),
    };
    super(create("SandboxBackend", SandboxGiven, all, glue.sandbox_new));
    addShell(this);
  }
}

sealClass(SandboxBackend);
