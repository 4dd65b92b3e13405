// `kitbag/node`: commands by `child_process`, for LocalShellBackend. Also for Deno and Bun.
// Modules of the host are reached at run time, so that a bundler finds no import to follow.

import type { CommandOutput } from "../execute.js";
import type { ExecuteCallback } from "../local_shell.js";

/** How commands are run. */
export interface NodeShellOptions {
  /** The shell that gets `-c` and the command. `/bin/sh`, or `cmd.exe` on Windows. */
  shell?: string;
}

type ChildProcess = typeof import("node:child_process");

/** So long the pipes of a command may stay open behind it, held by something in the background. */
const PIPES_MS = 250;

/** Keeps the first bytes of a stream and counts on without keeping. */
class Kept {
  #chunks: Uint8Array[] = [];
  #room: number;
  truncated = false;

  constructor(room: number) {
    this.#room = room;
  }

  take(chunk: Uint8Array): void {
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
    // As a stream, so that a character cut by the limit is left out and not mangled.
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(all, { stream: this.truncated });
  }
}

/**
 * Runs commands in a process group of their own, which is ended as a whole when the time is up.
 * A command gets the environment it is given and nothing of the host's.
 */
export function nodeShell(options: NodeShellOptions = {}): ExecuteCallback {
  const host = globalThis.process;
  const child = host?.getBuiltinModule?.("node:child_process") as ChildProcess | undefined;
  if (!child) throw new TypeError("nodeShell: this host has no child_process");
  const windows = host.platform === "win32";
  const { shell = windows ? "cmd.exe" : "/bin/sh" } = options;
  const args = (command: string) => (windows ? ["/d", "/s", "/c", command] : ["-c", command]);

  return ({ command, cwd, env, maxOutputBytes, signal }) =>
    new Promise<CommandOutput>((resolve, reject) => {
      if (signal.aborted) return reject(new Error("it was given up before it began"));
      const running = child.spawn(shell, args(command), {
        cwd,
        env,
        detached: !windows,
        stdio: ["ignore", "pipe", "pipe"],
        windowsVerbatimArguments: windows,
      });
      // One byte more than may be shown tells that there was more.
      const out = new Kept(maxOutputBytes + 1);
      const err = new Kept(maxOutputBytes + 1);
      running.stdout.on("data", (chunk: Uint8Array) => out.take(chunk));
      running.stderr.on("data", (chunk: Uint8Array) => err.take(chunk));
      let left: ReturnType<typeof setTimeout> | undefined;

      const end = () => {
        const { pid } = running;
        if (pid === undefined) return;
        if (windows) {
          child.spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore" });
          return;
        }
        try {
          host.kill(-pid, "SIGKILL");
        } catch {
          running.kill("SIGKILL");
        }
      };
      const done = (code: number | null, killedBy: string | null) => {
        clearTimeout(left);
        signal.removeEventListener("abort", end);
        resolve({
          stdout: out.text(),
          stderr: err.text(),
          // As a shell tells it: 128 and the number of the signal, where that is known.
          exitCode: code ?? (killedBy === "SIGKILL" ? 137 : killedBy === "SIGTERM" ? 143 : null),
          truncated: out.truncated || err.truncated,
        });
      };
      signal.addEventListener("abort", end, { once: true });
      running.once("error", (error) => {
        clearTimeout(left);
        signal.removeEventListener("abort", end);
        reject(error);
      });
      running.once("close", done);
      running.once("exit", (code, killedBy) => {
        // Something in the background may hold the pipes for ever; it goes on without us.
        left = setTimeout(() => {
          running.removeListener("close", done);
          for (const stream of [running.stdout, running.stderr]) {
            stream.removeAllListeners("data");
            stream.resume();
            (stream as unknown as { unref?(): void }).unref?.();
          }
          running.unref();
          done(code, killedBy);
        }, PIPES_MS);
      });
    });
}
