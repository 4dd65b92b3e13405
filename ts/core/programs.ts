// Where the programs are that kitbag starts: ripgrep, a shell, and two of Windows. An agent may write
// files in the folder of a backend, and that folder is the current directory of what is started. So
// a program is never started by a bare name, which the host might look up there: it is looked up
// here, in absolute directories of PATH only, and one that is inside the folder is passed over, also
// when it is only reached through the folder by a link.

type ChildProcess = typeof import("node:child_process");
type NodeFs = typeof import("node:fs");
type NodePath = typeof import("node:path");

/** Most links that are followed on the way to one program. */
const LINKS = 40;

function builtin<T>(name: string): T | undefined {
  try {
    return globalThis.process?.getBuiltinModule?.(name as "node:fs") as T | undefined;
  } catch {
    return undefined;
  }
}

/** The module that starts programs, where the host has it. */
export function childProcess(): ChildProcess | undefined {
  return builtin<ChildProcess>("node:child_process");
}

const onWindows = () => globalThis.process.platform === "win32";

/** Whether a path is complete: on Windows with its drive or server. */
function isComplete(path: string): boolean {
  return onWindows() ? /^([A-Za-z]:[\\/]|\\\\[^\\])/.test(path) : path.startsWith("/");
}

/** A program of Windows itself. */
export function systemProgram(name: string): string {
  const { SystemRoot = "" } = globalThis.process.env;
  return `${isComplete(SystemRoot) ? SystemRoot : "C:\\Windows"}\\System32\\${name}`;
}

/** Whether a text can name a program: a complete path, or a name without directories. */
export function canBeProgram(name: string): boolean {
  return name !== "" && !name.includes("\0") && (isComplete(name) || !/[\\/:]/.test(name));
}

/** Looks for a program, whose path is then complete. Throws an error that says what was refused. */
export function findProgram(name: string, folder: string | undefined): string {
  const fs = builtin<NodeFs>("node:fs");
  const path = builtin<NodePath>("node:path");
  if (!fs || !path) throw new Error("this host has no files");
  const outside = new Outside(fs, path, folder);
  if (isComplete(name)) {
    if (outside.reaches(name) === "inside") throw new Error(planted(name, folder));
    return name;
  }
  const file = onWindows() && !/\.[^.]+$/.test(name) ? `${name}.exe` : name;
  let inside = false;
  for (const element of (globalThis.process.env.PATH ?? "").split(path.delimiter)) {
    const dir = onWindows() ? element.replace(/^"(.*)"$/, "$1") : element;
    if (!isComplete(dir)) continue;
    const found = path.join(dir, file);
    const reached = outside.reaches(found);
    if (reached === "program") return found;
    inside ||= reached === "inside";
  }
  throw new Error(inside ? planted(name, folder) : `'${name}' is in no absolute directory of PATH`);
}

function planted(name: string, folder: string | undefined): string {
  return `'${name}' lies inside the folder '${folder}', where files may be written; install it outside of it`;
}

class Outside {
  readonly #fs: NodeFs;
  readonly #path: NodePath;
  /** Identifies the folder, however it is spelled. */
  readonly #folder: string | undefined;

  constructor(fs: NodeFs, path: NodePath, folder: string | undefined) {
    this.#fs = fs;
    this.#path = path;
    // A folder that does not exist contains no program.
    this.#folder = folder === undefined ? undefined : this.#identity(folder);
  }

  #identity(path: string): string | undefined {
    const stats = this.#fs.statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && `${stats.dev}-${stats.ino}`;
  }

  /** What a path leads to, when each directory and link on the way is looked at. */
  reaches(path: string): "program" | "inside" | "nothing" {
    try {
      return this.#walked(path);
    } catch {
      return "nothing";
    }
  }

  #walked(path: string): "program" | "inside" | "nothing" {
    const fs = this.#fs;
    let { at, left } = this.#split(path);
    for (let links = 0; ; ) {
      if (this.#folder !== undefined && this.#identity(at) === this.#folder) return "inside";
      const name = left.shift();
      if (name === undefined) break;
      const next = this.#path.join(at, name);
      if (!fs.lstatSync(next).isSymbolicLink()) {
        at = next;
        continue;
      }
      links += 1;
      if (links > LINKS) return "nothing";
      const target = fs.readlinkSync(next);
      const rest = left;
      if (this.#path.isAbsolute(target)) ({ at, left } = this.#split(target));
      else left = target.split(/[\\/]/).filter((part) => part !== "");
      left = [...left, ...rest];
    }
    if (!fs.statSync(at).isFile()) return "nothing";
    fs.accessSync(at, fs.constants.X_OK);
    return "program";
  }

  #split(path: string): { at: string; left: string[] } {
    const { root } = this.#path.parse(path);
    const left = path.slice(root.length).split(onWindows() ? /[\\/]/ : "/");
    return { at: root, left: left.filter((part) => part !== "" && part !== ".") };
  }
}
