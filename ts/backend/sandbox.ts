// SandboxBackend: a machine that is reached only by running commands on it.

import chunk from "#chunk/sandbox";
import { Options } from "../core/checks.js";
import type { CommandLimits, CommandOutput } from "../core/command.js";
import { sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import type { ExecuteResponse, MaybePromise } from "../types.js";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";
import { underLimits } from "./execute.js";
import { MAX_FILE_BYTES } from "./filesystem.js";
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
    const id = given.requiredText("id");
    const execute = given.callback("execute");
    if (!execute) given.refuse("execute", "a function that runs a command", undefined);
    const upload = given.callback("uploadFiles");
    const download = given.callback("downloadFiles");
    const rootDir = given.text("rootDir") ?? "/";
    const control = [...rootDir].some((letter) => letter < " ");
    if (!rootDir.startsWith("/") || control || /\/\.\.?(\/|$)/.test(rootDir)) {
      given.refuse("rootDir", "an absolute path of the sandbox", rootDir);
    }
    const timeoutMs = secondsOf(given, "timeout", 120);
    const maxOutputBytes = given.amount("maxOutputBytes") ?? 100_000;
    const maxFileBytes = given.amount("maxFileBytes") ?? MAX_FILE_BYTES;
    const overwrite = given.oneOf("writeMode", ["create", "overwrite"], "create") === "overwrite";
    given.done();
    // Called as methods of the options object, because they may use `this`.
    const run = (command: string, limits: CommandLimits) => execute?.call(options, command, limits);
    const begin = (maxBytes: number) => (command: string, ownTimeout?: number) =>
      underLimits(run, command, ownTimeout ?? timeoutMs, maxBytes);
    chunk.load();
    super(
      enter(() =>
        glue.sandbox_new(
          begin(OWN_OUTPUT),
          upload && ((files: unknown) => upload.call(options, files)),
          download && ((paths: unknown) => download.call(options, paths)),
          rootDir,
          maxFileBytes,
          overwrite,
          id,
          begin(maxOutputBytes),
        ),
      ),
    );
    addShell(this);
  }
}

sealClass(SandboxBackend);
