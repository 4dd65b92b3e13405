// just-bash: a shell over the same files that the tools use. The file system is in
// `shell/file-system.ts`. A redirect that cannot be written fails its command (`shell/redirects.ts`).

import { Bash, type BashOptions, defineCommand, type IFileSystem } from "just-bash";
import type { BackendProtocolV2, ExecuteResponse } from "kitbag";
import { contextHere } from "../core/context.js";
import { type Caller, callers } from "./shell/calls.js";
import { BackendFs } from "./shell/file-system.js";
import { REPORT, redirects } from "./shell/redirects.js";

/** A file system of just-bash over a backend. */
export interface BashFileSystem extends IFileSystem {
  /**
   * Reads the paths of all files for `getAllPaths`, which is synchronous. just-bash asks for them
   * only in `ls` with a quoted pattern.
   */
  refresh(): Promise<void>;
}

/**
 * A backend as a file system of just-bash, for `new Bash({ fs })`. `bashExecute` does more: it
 * reports refused redirects and limits the time.
 *
 * @param backend A backend with `uploadFiles`, `downloadFiles` and `delete`; otherwise this throws a
 *   `TypeError`.
 */
export function bashFileSystem(backend: object): BashFileSystem {
  return new BackendFs(backend as BackendProtocolV2);
}

/** Options of just-bash, except its file system. */
export interface BashExecuteOptions extends Omit<BashOptions, "fs"> {}

/** Options of one command. */
type BashCall = {
  /** Time limit in milliseconds; the exit code is then 124. 2^31 or more is no limit. */
  timeoutMs?: number;
  /** Ends the command when it aborts. */
  signal?: AbortSignal;
};

/** Runs a command. Never rejects: what failed is in `output`, with an `exitCode` that is not 0. */
type BashExecute = (command: string, call?: BashCall) => Promise<ExecuteResponse>;

/**
 * Returns an `execute` over a backend: it runs a command in a shell of just-bash, whose files are
 * those of the backend. The directory at the start is `/`. Error output follows standard output.
 *
 * @param options Options of just-bash, such as `env` and limits.
 * @example
 * const execute = bashExecute(new StateBackend({ files: { "/a.txt": "one\n" } }));
 * const { output } = await execute("wc -l < /a.txt");
 */
export function bashExecute(backend: object, options?: BashExecuteOptions): BashExecute {
  const fs = new BackendFs(backend as BackendProtocolV2);
  const report = defineCommand(REPORT, async ([code]) => {
    const refused = fs.refused();
    const stderr = refused.map((line) => `${line}\n`).join("");
    return { stdout: "", stderr, exitCode: Number(code) || (refused.length > 0 ? 1 : 0) };
  });
  const customCommands = [...(options?.customCommands ?? []), report];
  const bash = new Bash({ cwd: "/", ...options, customCommands, fs } as BashOptions);
  bash.registerTransformPlugin(redirects);
  return async (command, call) => {
    const millis = call?.timeoutMs;
    // Hosts fire a longer timer at once.
    const limit = millis && millis < 2 ** 31 ? AbortSignal.timeout(millis) : undefined;
    const signals = [call?.signal, limit].filter((one) => one !== undefined);
    try {
      const how = signals.length > 0 ? { signal: AbortSignal.any(signals) } : {};
      const exec = () => bash.exec(command, how);
      const caller: Caller = {
        within: contextHere(),
        signal: how.signal,
        opened: new Set(),
        refused: [],
        lost: false,
      };
      if (!callers) fs.caller = caller;
      const ran = await (callers ? callers.run(caller, exec) : exec());
      // What no report has told, since a script ended in between.
      const left = caller.refused.map((line) => `${line}\n`).join("");
      return {
        output: ran.stdout + ran.stderr + left,
        exitCode: ran.exitCode || Number(caller.lost),
        truncated: false,
      };
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      return { output: said, exitCode: limit?.aborted ? 124 : 1, truncated: false };
    }
  };
}

/** What `withBash` adds to a backend. */
type WithBash = {
  /** Identifies the shell: `just-bash`. */
  id: string;
  /** Runs a command; see `bashExecute`. */
  execute: BashExecute;
};

/**
 * A backend with `id` and `execute`, which runs commands in a shell over the backend's files; see
 * `bashExecute`. The tools and deepagents then offer the tool `execute`. The backend itself is
 * unchanged.
 */
export function withBash<B extends object>(backend: B, options?: BashExecuteOptions): B & WithBash {
  const execute = bashExecute(backend, options);
  const bound = new Map<PropertyKey, unknown>();
  return new Proxy(backend, {
    has: (target, name) => name === "id" || name === "execute" || Reflect.has(target, name),
    get(target, name) {
      if (name === "id") return "just-bash";
      if (name === "execute") return execute;
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== "function") return value;
      // Bound, because private fields of the target are not accessible through a proxy.
      if (!bound.has(name)) bound.set(name, value.bind(target));
      return bound.get(name);
    },
  }) as B & WithBash;
}
