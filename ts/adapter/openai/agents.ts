// What OpenAI Agents calls: an editor, which applies patches of a model, and a shell. No package of OpenAI is
// needed: both are plain objects.

import { type AnyBackend, visibleName } from "kitbag";
import { Pace } from "../../core/pace.js";
import { type Shell, shellOf } from "../framework/commands.js";
import { deleted, roomFor } from "../framework/files.js";
import { meant } from "../framework/names.js";
import { Problem } from "../fs/errors.js";
import { targetOf } from "../fs/paths.js";
import { changed, putNew } from "../fs/put.js";
import { movedFile } from "../fs/removing.js";
import { ask, later, type Steps } from "../fs/steps.js";
import { Tree } from "../fs/tree.js";
import { bytesAt } from "../fs/whole.js";
import { within } from "../fs/within.js";
import { appliedTo, createdBy, DiffError } from "./v4a.js";

/** The result of one change. */
type PatchResult = {
  /** Whether the change was made. */
  status: "completed" | "failed";
  /** What the model is told. */
  output: string;
};

/** A change of one file. */
type Change<Type extends string> = {
  /** The kind of change. */
  type: Type;
  /** The file. */
  path: string;
};

/** A change by a difference in the format V4A. */
type Patch<Type extends string> = Change<Type> & {
  /** The difference. */
  diff: string;
};

/** The `Editor` of OpenAI Agents. None of its functions rejects. */
type PatchEditor = {
  /** Creates a file; one that exists stays. */
  createFile(operation: Patch<"create_file">): Promise<PatchResult>;
  /** Changes a file, again if another writer changed it meanwhile. */
  updateFile(
    operation: Patch<"update_file"> & {
      /** The new path of the file. */
      moveTo?: string;
    },
  ): Promise<PatchResult>;
  /** Deletes a file. */
  deleteFile(operation: Change<"delete_file">): Promise<PatchResult>;
};

/** The `Shell` of OpenAI Agents. */
type CommandShell = {
  /** Runs commands, one after the other; what was refused is error output. */
  run(action: {
    /** The commands. */
    commands: string[];
    /** The time limit of each, in milliseconds. */
    timeoutMs?: number;
    /** The most characters of output of each. */
    maxOutputLength?: number;
  }): Promise<{
    /** What became of each command. */
    output: Array<{
      /** Its output and error output. */
      stdout: string;
      /** Why it was not run. */
      stderr: string;
      /** How it ended. */
      outcome:
        | {
            /** It ended by itself. */
            type: "exit";
            /** Its exit code, if it is known. */
            exitCode: number | null;
          }
        | {
            /** Its time was up. Those behind it are not run. */
            type: "timeout";
          };
    }>;
    /** The limit of the action. */
    maxOutputLength?: number;
  }>;
};

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new DiffError(`${visibleName(path)} is not a text.`);
  }
}

function* created(tree: Tree, path: string, diff: string): Steps<void> {
  const target = targetOf(meant(path), tree.cwd);
  const content = yield* ask(() => new Pace().run(createdBy(diff)));
  const bytes = new TextEncoder().encode(content);
  const entry = yield* tree.find(target.path);
  if (entry || target.directory) throw new Problem(entry ? "EEXIST" : "EISDIR");
  yield* roomFor(tree, target.path);
  if (!(yield* putNew(tree, target.path, bytes))) throw new Problem("EEXIST");
}

function* updated(tree: Tree, path: string, diff: string, moveTo: string | undefined): Steps<void> {
  const target = targetOf(meant(path), tree.cwd);
  const change = async (from: Uint8Array) => {
    const made = await new Pace().run(appliedTo(textOf(from, path), diff));
    return new TextEncoder().encode(made);
  };
  const old = yield* bytesAt(tree, target);
  // Whether it can be applied is known before anything is changed.
  const fresh = yield* ask(() => change(old));
  const to = moveTo === undefined ? target : targetOf(meant(moveTo), tree.cwd);
  if (to.path !== target.path) {
    if (yield* tree.find(to.path))
      throw new Problem("EEXIST", undefined, { syscall: "move", path: visibleName(moveTo ?? "") });
    yield* roomFor(tree, to.path);
    yield* movedFile(tree, target.path, to.path, false);
  }
  yield* changed(tree, to.path, (from) => (from === old ? fresh : change(from)), old);
}

/**
 * The `Editor` of OpenAI Agents over a backend, for `applyPatchTool({ editor })`.
 *
 * @param backend Any backend with `uploadFiles`, `downloadFiles` and `delete`.
 * @example
 * const agent = new Agent({ name, tools: [applyPatchTool({ editor: patchEditor(new StateBackend()) })] });
 */
export function patchEditor(backend: AnyBackend): PatchEditor {
  if (typeof backend !== "object" || backend === null) {
    throw new TypeError("patchEditor: the first argument must be a backend");
  }
  const tree = new Tree(backend, "/", "patchEditor");
  const done = async (syscall: string, path: string, said: string, steps: () => Steps<void>) => {
    try {
      await later(within({ syscall, path: visibleName(path) }, steps));
      return { status: "completed" as const, output: visibleName(said) };
    } catch (error) {
      const output = error instanceof Error ? error.message : String(error);
      return { status: "failed" as const, output };
    }
  };
  return {
    createFile: ({ path, diff }) =>
      done("create", path, `Created ${path}`, () => created(tree, path, diff)),
    updateFile: ({ path, diff, moveTo }) =>
      done("update", path, `Updated ${moveTo ?? path}`, () => updated(tree, path, diff, moveTo)),
    deleteFile: ({ path }) =>
      done("delete", path, `Deleted ${path}`, function* () {
        if (!(yield* deleted(tree, targetOf(meant(path), tree.cwd)))) throw new Problem("ENOENT");
      }),
  };
}

async function one(shell: Shell, command: string, timeoutMs: number | undefined) {
  try {
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    const { output, exitCode, error, code } = await shell.execute(command, limit);
    const late = code === "timeout" || exitCode === 124;
    const outcome = late ? ({ type: "timeout" } as const) : ({ type: "exit", exitCode } as const);
    if (error === undefined || late) return { stdout: output, stderr: "", outcome };
    return { stdout: "", stderr: error, outcome: { type: "exit" as const, exitCode: 1 } };
  } catch (error) {
    const stderr = error instanceof Error ? error.message : String(error);
    return { stdout: "", stderr, outcome: { type: "exit" as const, exitCode: 1 } };
  }
}

/**
 * The `Shell` of OpenAI Agents over a backend with a shell, for `shellTool({ shell })`.
 *
 * @param backend A backend with a shell: `LocalShellBackend`, `SandboxBackend`, or one of `withBash`.
 * @example
 * const tools = [shellTool({ shell: commandShell(withBash(backend)) })];
 */
export function commandShell(backend: AnyBackend): CommandShell {
  const shell = shellOf("commandShell", backend);
  return {
    run: async ({ commands, timeoutMs, maxOutputLength }) => {
      const output: Awaited<ReturnType<CommandShell["run"]>>["output"] = [];
      const most = maxOutputLength ?? Number.POSITIVE_INFINITY;
      for (const command of commands) {
        const { stdout, stderr, outcome } = await one(shell, command, timeoutMs);
        output.push({ stdout: stdout.slice(0, most), stderr: stderr.slice(0, most), outcome });
        if (outcome.type === "timeout") break;
      }
      return { output, ...(maxOutputLength !== undefined && { maxOutputLength }) };
    },
  };
}
