// LocalShellBackend: a folder of the host, and commands through a callback of the host. Commands
// are not confined: they can do whatever the host's user can. See the safety notes in docs/local-shell.md.

import { kindOf, Options } from "../core/checks.js";
import type { ExecuteCallback } from "../core/command.js";
import { incoming } from "../core/filedata.js";
import { sealClass } from "../core/handle.js";
import { hasNodeShell, nodeShell } from "../core/node_shell.js";
import type { ExecuteResponse, FileInput } from "../types.js";
import { addShell, type ExecuteOptions } from "./backend.js";
import { underLimits } from "./execute.js";
import {
  diskOf,
  FilesystemBackend,
  type FilesystemBackendOptions,
  type GivenDisk,
  PreparedDisk,
} from "./filesystem.js";

export type { CommandRequest, ExecuteCallback } from "../core/command.js";

/** Options of LocalShellBackend. */
export interface LocalShellBackendOptions extends FilesystemBackendOptions {
  /** Another name for `rootDir`. */
  workingDirectory?: string;
  /** Runs a command. Default: `nodeShell()` in Node, Deno and Bun; required elsewhere. */
  execute?: ExecuteCallback;
  /** Time limit of a command, in seconds; 0 is no limit. Default 120. */
  timeout?: number;
  /** Bytes of output to keep of a command; the rest is cut. Default 100,000. */
  maxOutputBytes?: number;
  /** Environment variables of commands. Default: none. */
  env?: Record<string, string>;
  /** Adds the host's own environment variables, including secrets. Default false. */
  inheritEnv?: boolean;
  /** Files that `create` and `initialize` write, by path. Default: none. */
  initialFiles?: Record<string, FileInput>;
}

function shellId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(4));
  return `local-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function executeOf(given: Options): ExecuteCallback {
  const execute = given.callback("execute") as ExecuteCallback | undefined;
  if (execute) return execute;
  if (hasNodeShell()) return nodeShell();
  return given.refuse("execute", "a function that runs a command (this host has none)", undefined);
}

function environment(given: Options): Record<string, string> {
  const env = given.object("env") ?? {};
  for (const [name, value] of Object.entries(env)) {
    if (typeof value !== "string") given.refuse(`env.${name}`, "a string", value);
  }
  if (!given.boolean("inheritEnv", false)) return env as Record<string, string>;
  const host = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process;
  const own = Object.entries(host?.env ?? {}).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    ...(env as Record<string, string>),
  };
}

/** Reads an option in seconds and returns milliseconds. */
export function secondsOf(given: Options, name: string, otherwise: number): number {
  const seconds = given.checked(
    name,
    "a number of seconds, or 0 for no limit",
    (value): value is number => typeof value === "number" && value >= 0,
  );
  return (seconds ?? otherwise) * 1000;
}

/**
 * A folder of the host, and commands that run in it. Commands are not confined to the folder: they
 * can do what the user of the process can.
 *
 * @example
 * const backend = await LocalShellBackend.create({ rootDir: "./workspace" });
 * const { output, exitCode } = await backend.execute("ls -l");
 */
export class LocalShellBackend extends FilesystemBackend {
  /** Identifies this backend: `local-` and eight hexadecimal digits. */
  declare readonly id: string;
  /**
   * Runs a command in the folder. Never rejects: a command that could not run has an `error`; one
   * that ran into the time limit has the exit code 124.
   */
  declare readonly execute: (command: string, options?: ExecuteOptions) => Promise<ExecuteResponse>;
  readonly #initialFiles: Array<[string, Uint8Array]>;
  #initialized = false;
  #running = false;

  readonly #disk: GivenDisk;

  /** Throws a `TypeError` that names the wrong option. The folder is not touched yet. */
  constructor(options?: LocalShellBackendOptions) {
    const given = new Options("LocalShellBackend", options);
    const other = given.text("workingDirectory");
    const rootName = other === undefined ? "rootDir" : "workingDirectory";
    if (other !== undefined && given.text("rootDir") !== undefined) {
      given.excess("workingDirectory", "where there is a rootDir");
    }
    const disk = diskOf(given, rootName);
    const cwd = disk.rootDir;
    const execute = executeOf(given);
    const timeoutMs = secondsOf(given, "timeout", 120);
    const maxOutputBytes = given.amount("maxOutputBytes") ?? 100_000;
    const env = environment(given);
    const initialFiles = contents(given);
    given.done();
    const begin = (command: string, ownTimeout?: number) =>
      underLimits(
        (text, limits) => execute({ command: text, cwd, env: { ...env }, ...limits }),
        command,
        ownTimeout ?? timeoutMs,
        maxOutputBytes,
      );
    super(new PreparedDisk(disk, shellId(), begin));
    addShell(this);
    this.#initialFiles = initialFiles;
    this.#disk = disk;
  }

  /** Creates a backend and initializes it. */
  static async create(options?: LocalShellBackendOptions): Promise<LocalShellBackend> {
    const backend = new LocalShellBackend(options);
    await backend.initialize();
    return backend;
  }

  /** Whether the backend was initialized and not closed. */
  get isRunning(): boolean {
    return this.#running;
  }

  /** deepagents' other name for `isRunning`. */
  get isInitialized(): boolean {
    return this.#running;
  }

  /** Creates the folder and writes the initial files. Rejects if that fails or was done before. */
  async initialize(): Promise<void> {
    if (this.#initialized) {
      throw new Error(
        "LocalShellBackend: it is initialized already; each one can be initialized only once",
      );
    }
    this.#initialized = true;
    // Commands run in it.
    await this.#disk.disk.place.makeFolder(this.#disk.rootDir);
    const answers = await this.uploadFiles(this.#initialFiles);
    const refused = answers.find((answer) => answer.error !== null);
    if (refused) {
      this.#initialized = false;
      throw new Error(
        `LocalShellBackend: initialFiles[${JSON.stringify(refused.path)}] cannot be written: ${refused.message}`,
      );
    }
    this.#running = true;
  }

  /** Ends the use of the backend. Running commands continue up to their time limit; files stay. */
  async close(): Promise<void> {
    this.#running = false;
  }
}

sealClass(LocalShellBackend);

function contents(given: Options): Array<[string, Uint8Array]> {
  const files = given.record("initialFiles", '{ "/a.txt": "text" }') ?? {};
  const encoder = new TextEncoder();
  return Object.entries(files).map(([path, file]) => {
    try {
      const { content } = incoming(file);
      return [path, typeof content === "string" ? encoder.encode(content) : content];
    } catch {
      return given.refuse(
        `initialFiles[${JSON.stringify(path)}]`,
        "text, bytes or FileData",
        kindOf(file),
      );
    }
  });
}
