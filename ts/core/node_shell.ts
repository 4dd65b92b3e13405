// Runs commands with `child_process`, in Node, Deno and Bun.
// Modules of the host are loaded at run time, so that a bundler finds no import.

import type { CommandOutput, ExecuteCallback } from "./command.js";
import { onlyKnown } from "./nearest.js";
import { canBeProgram, childProcess, findProgram, systemProgram } from "./programs.js";

/** Options of `nodeShell`. */
export interface NodeShellOptions {
  /**
   * The shell that runs `-c` and the command: its path, or a name that is looked up in `PATH`. One
   * inside the folder of the commands is refused. Default `/bin/sh`, or `cmd.exe` on Windows.
   */
  shell?: string;
}

/** How long a background process may keep a command's pipes open after the command ended. */
const PIPES_MS = 250;

/** Keeps the first bytes of a stream and counts all of them. */
class Kept {
  #chunks: Uint8Array[] = [];
  #room: number;
  truncated = false;
  /** Number of received bytes, kept or not. */
  seen = 0;

  constructor(room: number) {
    this.#room = room;
  }

  take(chunk: Uint8Array): void {
    this.seen += chunk.length;
    if (chunk.length > this.#room) this.truncated = true;
    const part = chunk.subarray(0, this.#room);
    if (part.length > 0) this.#chunks.push(part);
    this.#room -= part.length;
  }

  text(): string {
    const size = this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const all = new Uint8Array(size);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    // Streaming mode omits a character that the limit cut, instead of replacing it by U+FFFD.
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(all, { stream: this.truncated });
  }
}

/** Whether the host has `child_process`. */
export function hasNodeShell(): boolean {
  return childProcess() !== undefined;
}

/** Says what is missing: hosts report an absent directory as if the shell were not there. */
function unstarted(error: Error, shell: string, cwd: string): Error {
  if ((error as { code?: string }).code !== "ENOENT") return error;
  const fs = globalThis.process.getBuiltinModule("node:fs");
  if (fs.existsSync(cwd)) return new Error(`the shell '${shell}' was not found`);
  return new Error(
    `the directory '${cwd}' does not exist: create it, or use LocalShellBackend.create()`,
  );
}

/**
 * Runs each command in a new process group, which is killed as a whole at the time limit. A command
 * gets only the environment that LocalShellBackend passes, nothing else of the host's.
 */
export function nodeShell(options: NodeShellOptions = {}): ExecuteCallback {
  const host = globalThis.process;
  const child = childProcess();
  if (!child) throw new TypeError("nodeShell: this host has no child_process");
  onlyKnown("nodeShell", options, ["shell"]);
  const { shell: asked } = options;
  if (asked !== undefined && (typeof asked !== "string" || !canBeProgram(asked))) {
    throw new TypeError(
      'nodeShell: option "shell" must be the absolute path of a shell, or a name to look up in PATH',
    );
  }
  const windows = host.platform === "win32";
  const shell = asked ?? (windows ? systemProgram("cmd.exe") : "/bin/sh");
  const found = new Map<string, string>();
  // Where the whole disk is the folder, no place is outside of it.
  const programIn = (cwd: string) => {
    const known = found.get(cwd);
    if (known !== undefined || asked === undefined) return known ?? shell;
    const path = findProgram(asked, /^([A-Za-z]:)?[\\/]*$/.test(cwd) ? undefined : cwd);
    found.set(cwd, path);
    return path;
  };
  const args = (command: string) => (windows ? ["/d", "/s", "/c", command] : ["-c", command]);

  return ({ command, cwd, env, maxOutputBytes, signal }) =>
    new Promise<CommandOutput>((resolve, reject) => {
      if (signal.aborted) return reject(new Error("it was given up before it began"));
      const running = child.spawn(programIn(cwd), args(command), {
        cwd,
        env,
        detached: !windows,
        stdio: ["ignore", "pipe", "pipe"],
        windowsVerbatimArguments: windows,
      });
      // One byte more than the limit, to detect that there was more.
      const out = new Kept(maxOutputBytes + 1);
      const err = new Kept(maxOutputBytes + 1);
      running.stdout.on("data", (chunk: Uint8Array) => out.take(chunk));
      running.stderr.on("data", (chunk: Uint8Array) => err.take(chunk));
      let left: ReturnType<typeof setTimeout> | undefined;

      const end = () => {
        const { pid } = running;
        if (pid === undefined) return;
        if (windows) {
          child.spawn(systemProgram("taskkill.exe"), ["/pid", String(pid), "/T", "/F"], {
            stdio: "ignore",
          });
          return;
        }
        try {
          host.kill(-pid, "SIGKILL");
        } catch {
          running.kill("SIGKILL");
        }
      };
      let settled = false;
      const done = (code: number | null, killedBy: string | null) => {
        if (settled) return;
        settled = true;
        clearTimeout(left);
        signal.removeEventListener("abort", end);
        resolve({
          stdout: out.text(),
          stderr: err.text(),
          // As shells report it: 128 plus the number of the signal, if it is known.
          exitCode: code ?? (killedBy === "SIGKILL" ? 137 : killedBy === "SIGTERM" ? 143 : null),
          truncated: out.truncated || err.truncated,
        });
      };
      signal.addEventListener("abort", end, { once: true });
      running.once("error", (error) => {
        clearTimeout(left);
        signal.removeEventListener("abort", end);
        reject(unstarted(error, shell, cwd));
      });
      running.once("close", done);
      running.once("exit", (code, killedBy) => {
        // A background process may hold the pipes for ever; it keeps running and is not waited for.
        const leave = (before: number) => {
          if (settled) return;
          // Data that is still in the pipes is read first, even if this timer fired late.
          if (out.seen + err.seen > before) return wait();
          running.removeListener("close", done);
          for (const stream of [running.stdout, running.stderr]) {
            stream.removeAllListeners("data");
            stream.resume();
            (stream as typeof stream & { unref?(): void }).unref?.();
          }
          running.unref();
          done(code, killedBy);
        };
        const wait = () => {
          const before = out.seen + err.seen;
          left = setTimeout(() => setImmediate(() => setImmediate(leave, before)), PIPES_MS);
        };
        wait();
      });
    });
}
