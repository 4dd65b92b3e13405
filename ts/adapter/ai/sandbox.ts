// The sandbox session of AI SDK 7 over a backend with a shell. Files go through the backend, so that its
// rules hold for them; commands go through its `execute`.

import type { AnyBackend } from "kitbag";
import { onlyKnown } from "../../core/nearest.js";
import { prepared, ran, shellOf } from "../framework/commands.js";
import { deleted, stored } from "../framework/files.js";
import { decoded, encoded, encodingOf, gathered } from "../fs/content.js";
import { fsError, Problem } from "../fs/errors.js";
import { entriesOf } from "../fs/looking.js";
import { type Target, targetOf } from "../fs/paths.js";
import { later, type Steps } from "../fs/steps.js";
import { Tree } from "../fs/tree.js";
import { bytesAt } from "../fs/whole.js";
import { within } from "../fs/within.js";

/** Options of `sandboxSession`. */
export interface SandboxSessionOptions {
  /** The directory of the backend in which commands begin, and relative paths. Default `/`. */
  cwd?: string;
  /** What the agent is told about the machine, in place of the default. */
  description?: string;
}

/** A path of a call. */
type OnPath = {
  /** The path; a relative one begins in the directory in which commands begin. */
  path: string;
  /** Ends the call. */
  abortSignal?: AbortSignal;
};

/** How text is encoded. */
type Encoded = {
  /** The encoding. Default `utf-8`. */
  encoding?: string;
};

/** What is written. */
type Content<Kind> = OnPath & {
  /** The whole content of the file. */
  content: Kind;
};

/** A command. */
type Command = {
  /** The command, for a shell. */
  command: string;
  /** Where it begins. */
  workingDirectory?: string;
  /** Variables that are set for it, by lines before it. */
  env?: Record<string, string>;
  /** Ends it. */
  abortSignal?: AbortSignal;
};

/** A running command. */
type Process = {
  /** Its output and error output, when it has ended. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** Empty: error output is in `stdout`. */
  readonly stderr: ReadableStream<Uint8Array>;
  /** Resolves when the command has ended. */
  wait(): Promise<{
    /** Its exit code. */
    exitCode: number;
  }>;
  /** Ends the command. */
  kill(): Promise<void>;
};

/** A `SandboxSession` of AI SDK 7. */
type Session = {
  /** What the agent is told about the machine. */
  readonly description: string;
  /** Reads a file as a stream; null if there is none. */
  readFile(options: OnPath): Promise<ReadableStream<Uint8Array> | null>;
  /** Reads a file as bytes; null if there is none. */
  readBinaryFile(options: OnPath): Promise<Uint8Array | null>;
  /** Reads a file as text, or some of its lines; null if there is none. */
  readTextFile(
    options: OnPath &
      Encoded & {
        /** The first line, which counts from 1. */
        startLine?: number;
        /** The last line. */
        endLine?: number;
      },
  ): Promise<string | null>;
  /** Writes a file from a stream. */
  writeFile(options: Content<ReadableStream<Uint8Array>>): Promise<void>;
  /** Writes a file from bytes. */
  writeBinaryFile(options: Content<Uint8Array>): Promise<void>;
  /** Writes a file from text. */
  writeTextFile(options: Content<string> & Encoded): Promise<void>;
  /** What is at a path; null if there is nothing. */
  stat(options: OnPath): Promise<{
    /** A file or a directory. */
    type: "file" | "directory";
    /** Bytes of a file. */
    size: number;
  } | null>;
  /** The entries of a directory; null if there is none. */
  listDirectory(options: OnPath): Promise<Array<{
    /** The name. */
    name: string;
    /** A file or a directory. */
    type: "file" | "directory";
  }> | null>;
  /** Deletes a file. False: there is none. */
  deleteFile(options: OnPath): Promise<boolean>;
  /** Starts a command. `stdin: true` is refused. */
  spawn(
    options: Command & {
      /** Whether the command reads standard input, which these cannot. */
      stdin?: boolean;
    },
    // biome-ignore lint/suspicious/noExplicitAny: the SDK's overload for `stdin: true` has a field more
  ): Promise<any>;
  /** Runs a command. */
  run(options: Command): Promise<{
    /** Its exit code. */
    exitCode: number;
    /** Its output and error output. */
    stdout: string;
    /** Empty: error output is in `stdout`. */
    stderr: string;
  }>;
};

const stream = (piece: Promise<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async start(controller) {
      try {
        const bytes = await piece;
        if (bytes.length > 0) controller.enqueue(bytes);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
    },
  });

/** Pieces of a stream; some hosts cannot iterate it. */
async function* pieces(content: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = content.getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
}

function lines(text: string, start: number | undefined, end: number | undefined): string {
  if (start === undefined && end === undefined) return text;
  const first = Math.max(1, start ?? 1) - 1;
  return text.split("\n").slice(first, end).join("\n");
}

/** The exit code of a command that was killed. */
const KILLED = 137;

/** The operations on files. */
function filesOf(tree: Tree) {
  const at = (path: string) => targetOf(path, tree.cwd);
  const run = <T>(name: string, { path, abortSignal }: OnPath, steps: (at: Target) => Steps<T>) => {
    abortSignal?.throwIfAborted();
    return later(within({ syscall: name, path }, () => steps(at(path))));
  };
  /** Null where there is nothing. */
  const found = async <T>(name: string, options: OnPath, steps: (at: Target) => Steps<T>) => {
    try {
      return await run(name, options, steps);
    } catch (error) {
      if ((error as { code?: unknown }).code === "ENOENT") return null;
      throw error;
    }
  };
  const read = (options: OnPath) =>
    found("read", options, (target) => bytesAt(tree, target, options.abortSignal));
  const write = async (options: OnPath, bytes: Uint8Array) =>
    run("write", options, (target) => stored(tree, target, bytes, options.abortSignal));
  return {
    readFile: async (options: OnPath) => {
      const bytes = await read(options);
      return bytes && stream(Promise.resolve(bytes));
    },
    readBinaryFile: read,
    readTextFile: async (options: Parameters<Session["readTextFile"]>[0]) => {
      const encoding = encodingOf(options.encoding ?? "utf-8");
      const bytes = await read(options);
      return bytes && lines(decoded(bytes, encoding) as string, options.startLine, options.endLine);
    },
    writeFile: async (options: Content<ReadableStream<Uint8Array>>) =>
      write(options, await gathered(pieces(options.content), undefined)),
    // The caller may change its bytes as soon as the call has returned.
    writeBinaryFile: async (options: Content<Uint8Array>) =>
      write(options, options.content.slice()),
    writeTextFile: async (options: Content<string> & Encoded) =>
      write(options, encoded(options.content, encodingOf(options.encoding ?? "utf-8"))),
    stat: (options: OnPath) =>
      found("stat", options, function* (target) {
        const { directory, size } = yield* tree.get(target);
        return { type: directory ? ("directory" as const) : ("file" as const), size };
      }),
    listDirectory: (options: OnPath) =>
      found("scandir", options, function* (target) {
        if (!(yield* tree.get(target)).directory) throw new Problem("ENOTDIR");
        const all = yield* entriesOf(tree, target);
        return all.map(({ name, directory }) => ({
          name,
          type: directory ? ("directory" as const) : ("file" as const),
        }));
      }),
    deleteFile: (options: OnPath) => run("unlink", options, (target) => deleted(tree, target)),
  };
}

/**
 * A sandbox session of AI SDK 7, for `experimental_sandbox`: commands run in the backend's shell, and files
 * are the backend's, so that its rules hold.
 *
 * @param backend A backend with a shell: `LocalShellBackend`, `SandboxBackend`, or one of `withBash`.
 * @example
 * const experimental_sandbox = sandboxSession(withBash(new StateBackend()));
 * await generateText({ model, prompt, tools, experimental_sandbox });
 */
export function sandboxSession(backend: AnyBackend, options?: SandboxSessionOptions): Session {
  onlyKnown("sandboxSession", options, ["cwd", "description"]);
  for (const name of ["cwd", "description"] as const) {
    if (options?.[name] !== undefined && typeof options[name] !== "string") {
      throw new TypeError(`sandboxSession: option "${name}" must be a string`);
    }
  }
  const shell = shellOf("sandboxSession", backend);
  const tree = new Tree(backend, options?.cwd ?? "/", "sandboxSession");
  const execute = async (asked: Command, signal: AbortSignal | undefined) => {
    const command = prepared(asked.command, asked.workingDirectory, asked.env);
    const { output, exitCode } = await ran(shell, command, signal ? { signal } : {});
    return { stdout: output, stderr: "", exitCode: exitCode ?? 1 };
  };
  const spawn = async (asked: Command & { stdin?: boolean }): Promise<Process> => {
    if (asked.stdin === true) {
      throw fsError("ENOSYS", { syscall: "spawn" }, "these commands have no standard input");
    }
    const killer = new AbortController();
    const given = [killer.signal, asked.abortSignal].filter((one) => one !== undefined);
    const ended = execute(asked, AbortSignal.any(given)).catch((error) => {
      if (!killer.signal.aborted) throw error;
      return { stdout: "", stderr: "", exitCode: KILLED };
    });
    // Who only reads the streams is told there.
    ended.catch(() => undefined);
    return {
      stdout: stream(ended.then(({ stdout }) => new TextEncoder().encode(stdout))),
      stderr: stream(ended.then(() => new Uint8Array())),
      wait: async () => ({ exitCode: (await ended).exitCode }),
      kill: async () => {
        killer.abort();
        await ended.catch(() => undefined);
      },
    };
  };
  return {
    description:
      options?.description ??
      "Commands run in a shell. Name files by paths relative to the directory in which it begins.",
    ...filesOf(tree),
    spawn,
    run: (asked) => execute(asked, asked.abortSignal),
  };
}
