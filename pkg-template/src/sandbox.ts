// SandboxBackend: a machine that can only be reached by running commands there.

import chunk from "#chunk/sandbox";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";
import { Options } from "./core/checks.js";
import { sealClass } from "./core/handle.js";
import { enter, glue } from "./core/instance.js";
import { type CommandLimits, type CommandOutput, underLimits } from "./execute.js";
import { MAX_FILE_BYTES } from "./filesystem.js";
import { secondsOf } from "./local_shell.js";
import type { ExecuteResponse, MaybePromise } from "./types.js";

/** How a SandboxBackend is made. */
export interface SandboxBackendOptions {
  /** Which sandbox it is. */
  id: string;
  /** Runs a command there, by a POSIX shell. */
  execute(command: string, limits: CommandLimits): MaybePromise<CommandOutput>;
  /** Moves files there, if the sandbox has a way of its own; else they go through the shell. */
  uploadFiles?(
    files: Array<[string, Uint8Array]>,
  ): MaybePromise<Array<{ path?: string; error: string | null | undefined }>>;
  /** Fetches files from there, likewise. */
  downloadFiles?(
    paths: string[],
  ): MaybePromise<
    Array<{ path?: string; content: Uint8Array | null; error: string | null | undefined }>
  >;
  /** The directory of the sandbox that is `/` here. `/` unless said otherwise. */
  rootDir?: string;
  /** Seconds that a command may take. 120 unless said otherwise. */
  timeout?: number;
  /** Bytes of a command's output that are kept. 100,000 unless said otherwise. */
  maxOutputBytes?: number;
  /** Larger files are neither read nor written. 10 MB unless said otherwise. */
  maxFileBytes?: number;
  /** What `write` does where the file exists: refuse (`"create"`, the default) or replace it. */
  writeMode?: "create" | "overwrite";
}

/** The most that the answer to a command of kitbag's own may be. */
const OWN_OUTPUT = 16 * 1024 * 1024;

/** Files and commands of a sandbox. */
export class SandboxBackend extends Backend {
  /** Which sandbox it is. */
  declare readonly id: string;
  /** Runs a command there. */
  declare readonly execute: (command: string, options?: ExecuteOptions) => Promise<ExecuteResponse>;

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
    // As methods of the object they were given in, which they may well be.
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
