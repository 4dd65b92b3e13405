// The text editor and the memory, which are built into Claude: their commands, and the paths that each of
// them may use.

import {
  adaptBackendProtocol,
  type BackendOrFactory,
  type BackendProtocolV2,
  resolveBackend,
  visibleName,
} from "kitbag";
import { onlyKnown } from "../../core/nearest.js";
import { canonical, namesIn } from "../../core/paths.js";
import { meant } from "../framework/names.js";
import { type EditorInput, insert, remove, rename, replace, store } from "./editing.js";
import { type Place, Refusal, speaking, text, view } from "./reading.js";

/** Result of a handler. */
type HandlerResult = {
  /** What the model is told; on failure, what was wrong and what to do about it. */
  text: string;
  /** Whether the result reports a failure, for `is_error` of the tool result. */
  isError: boolean;
};

/** A tool that is built into Claude, over a backend. */
type BuiltInTool<Type extends string, Name extends string> = {
  /** The definition for `tools` of the Messages API. */
  definition: {
    /** The version of the tool. */
    type: Type;
    /** Name of the tool; a tool use with this name is for `run`. */
    name: Name;
  };
  /**
   * Runs one tool use. Never rejects: a failure is a result.
   *
   * @param input The `input` of the tool use.
   * @param runtime Passed to the function, if the backend is one.
   */
  run(input: unknown, runtime?: unknown): Promise<HandlerResult>;
};

/** Options of `memoryTool`. */
export interface MemoryToolOptions {
  /**
   * The directory of the backend that the model sees as `/memories`. Nothing outside of it can be
   * read or changed. Default `/memories`.
   */
  directory?: string;
}

async function handled(run: () => Promise<string>): Promise<HandlerResult> {
  try {
    return { text: await run(), isError: false };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { text: said.startsWith("Error") ? said : `Error: ${said}`, isError: true };
  }
}

/** The commands and paths that a tool may use. */
interface Bounds {
  known: readonly string[];
  /** Converts a path of the model to one of the backend. */
  inside(path: string): string;
  name(path: string): string;
  /** The directory that can be viewed but not changed. */
  root?: string;
  /** Converts an error message about a path to one for the model. */
  tell?(said: string, path: string): string;
}

async function filesOf(
  backend: BackendOrFactory,
  { tell }: Bounds,
  runtime: unknown,
): Promise<BackendProtocolV2> {
  const found = await resolveBackend(backend, runtime);
  // Which also keeps the library's own files from a model.
  const files = adaptBackendProtocol(found);
  return tell ? speaking(files, tell) : files;
}

async function command(
  backend: BackendOrFactory,
  input: unknown,
  bounds: Bounds,
  runtime?: unknown,
): Promise<string> {
  const { known, inside, name, root } = bounds;
  const given = (typeof input === "object" && input !== null ? input : {}) as EditorInput;
  const asked = given.command as string;
  if (!known.includes(asked)) {
    throw new Refusal(`Error: "command" must be one of ${known.join(", ")}.`);
  }
  const changed = (field: "path" | "old_path" | "new_path") => {
    const path = inside(meant(text(field, given[field])));
    if (path === root) throw new Refusal(`Error: ${name(path)} itself can only be viewed.`);
    return path;
  };
  const signal = signalOf(runtime);
  const at = async (): Promise<Place> => {
    const files = await filesOf(backend, bounds, runtime);
    if (signal?.aborted) throw new Refusal("Error: The call was cancelled before it began.");
    return { files, name, signal };
  };
  switch (asked) {
    case "rename": {
      const [from, to] = [changed("old_path"), changed("new_path")];
      return rename(await at(), from, to);
    }
    case "view": {
      const path = inside(meant(text("path", given.path)));
      return view(await at(), path, given.view_range, path === root);
    }
    case "create": {
      const path = changed("path");
      await store(await at(), path, text("file_text", given.file_text));
      return `File created successfully at: ${name(path)}`;
    }
    case "str_replace":
      return replace(await at(), changed("path"), given);
    case "insert":
      return insert(await at(), changed("path"), given);
    default:
      return remove(await at(), changed("path"));
  }
}

/** The signal of a run of LangGraph, or of options. */
function signalOf(runtime: unknown): AbortSignal | undefined {
  const signal = (runtime as { signal?: unknown } | null | undefined)?.signal;
  return signal instanceof AbortSignal ? signal : undefined;
}

/**
 * The text editor tool that is built into Claude (`str_replace_based_edit_tool`, of 2025-07-28), over
 * a backend. Limit the paths with `withPolicy`.
 *
 * @param backend The backend, or a function that is called at each tool use and returns one.
 */
export function textEditorTool(
  backend: BackendOrFactory,
): BuiltInTool<"text_editor_20250728", "str_replace_based_edit_tool"> {
  const known = ["view", "create", "str_replace", "insert"];
  return {
    definition: {
      type: "text_editor_20250728" as const,
      name: "str_replace_based_edit_tool" as const,
    },
    run: (input: unknown, runtime?: unknown) =>
      handled(() =>
        command(backend, input, { known, inside: (path) => path, name: visibleName }, runtime),
      ),
  };
}

/**
 * The memory tool that is built into Claude (of 2025-08-18), over a backend.
 *
 * @param backend The backend, or a function that is called at each tool use and returns one.
 */
export function memoryTool(
  backend: BackendOrFactory,
  options?: MemoryToolOptions,
): BuiltInTool<"memory_20250818", "memory"> {
  onlyKnown("memoryTool", options, ["directory"]);
  if (options?.directory !== undefined && typeof options.directory !== "string") {
    throw new TypeError('memoryTool: option "directory" must be a string, such as "/memories"');
  }
  const directory = canonical(options?.directory ?? "/memories").replace(/^\/$/, "");
  // A match must begin at the start of a path and end at the end of a name: `/a/b`, not `/a/bc`.
  const start = "(?<![\\w/.-])";
  const literal = (path: string) => path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const within = new RegExp(`${start}${literal(directory)}(?![\\w-])`, "g");
  const bounds: Bounds = {
    known: ["view", "create", "str_replace", "insert", "delete", "rename"],
    root: directory || "/",
    inside(path) {
      const segments = namesIn(path);
      if (segments[0] !== "memories" || segments.includes("..") || /[\\%]/.test(path)) {
        throw new Refusal(`Error: ${visibleName(path)} is not below /memories.`);
      }
      const below = segments.slice(1).map((one) => `/${one}`);
      return directory + below.join("") || "/";
    },
    name: (path) => visibleName(`/memories${path === "/" ? "" : path.slice(directory.length)}`),
  };
  if (directory === "") {
    bounds.tell = (said, path) =>
      path === "/"
        ? said
        : said.replace(new RegExp(`${start}${literal(visibleName(path))}(?![\\w-])`, "g"), () =>
            bounds.name(path),
          );
  } else if (directory !== "/memories") {
    bounds.tell = (said) => said.replace(within, "/memories");
  }
  return {
    definition: { type: "memory_20250818" as const, name: "memory" as const },
    run: (input: unknown, runtime?: unknown) =>
      handled(() => command(backend, input, bounds, runtime)),
  };
}
