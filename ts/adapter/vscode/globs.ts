// VS Code's patterns of names, which are not those of a backend: a text without a slash is a path from where
// the pattern begins, and what is left out is left out with all below it.

import { canonical, namesIn } from "../../core/paths.js";
import { isAt } from "../fs/tree.js";
import type { Pattern, SearchedFolder, UriLike } from "./names.js";

/** A text as an expression. */
export const quoted = (text: string) => text.replace(/[$()*+./?[\\\]^{|}-]/g, "\\$&");

/** The end of what begins with a bracket; -1 if it has none. */
function closing(glob: string, from: number): number {
  let depth = 0;
  for (let at = from; at < glob.length; at++) {
    if (glob[at] === "{") depth += 1;
    if (glob[at] === "}" && --depth === 0) return at;
  }
  return -1;
}

/** The parts of a text between signs that are in no braces. */
function parts(text: string, sign: string): string[] {
  const found = [""];
  let depth = 0;
  for (const one of text) {
    if (one === "{") depth += 1;
    if (one === "}") depth -= 1;
    if (one === sign && depth <= 0) found.push("");
    else found[found.length - 1] += one;
  }
  return found;
}

function segment(glob: string): string {
  let said = "";
  for (let at = 0; at < glob.length; at++) {
    const one = glob[at] as string;
    const end = one === "{" ? closing(glob, at) : one === "[" ? glob.indexOf("]", at + 1) : -1;
    if (one === "*") said += said.endsWith("[^/]*") ? "" : "[^/]*";
    else if (one === "?") said += "[^/]";
    else if (end < 0) said += quoted(one);
    else {
      const inside = glob.slice(at + 1, end);
      said +=
        one === "{"
          ? `(?:${parts(inside, ",").map(expression).join("|")})`
          : `(?!/)[${inside.replace(/^[!^]/, "^").replace(/[[\\]/g, "\\$&")}]`;
      at = end;
    }
  }
  return said;
}

/** A pattern as an expression. */
function expression(glob: string): string {
  let said = "";
  const all = parts(glob, "/").filter((one, at, list) => one !== "**" || list[at - 1] !== "**");
  for (const [at, one] of all.entries()) {
    const last = at === all.length - 1;
    if (one === "**") said += last ? ".*" : "(?:[^/]+/)*";
    else said += segment(one) + (last ? "" : "/");
  }
  // `a/**` is also `a`.
  return said.replace(/\/\.\*$/, "(?:/.*)?");
}

type Test = (path: string) => boolean;

const NEVER = /[^\s\S]/;

function compiled(glob: string): RegExp {
  try {
    return new RegExp(`^(?:${expression(glob)})$`, "u");
  } catch {
    // Such as `[z-a]`: nothing has that name.
    return NEVER;
  }
}

/** The path of a file below a directory. */
const within = (path: string, dir: string) => path.slice(dir === "/" ? 1 : dir.length + 1);

export const pathOf = (uri: UriLike): string => canonical(namesIn(uri.path).join("/"));

/** Whether a path, or one above it, has one of these patterns. */
export function leavesOut(dir: string, patterns: readonly Pattern[]): Test {
  const tests = patterns.map((pattern) => {
    const [glob, base] =
      typeof pattern === "string" ? [pattern, dir] : [pattern.pattern, pathOf(pattern.baseUri)];
    const absolute = glob.startsWith("/");
    const form = compiled(glob.replace(/^\/|\/$/g, ""));
    return { form, base: absolute && typeof pattern === "string" ? "/" : base };
  });
  return (path) =>
    tests.some(({ form, base }) => {
      if (!isAt(path, base)) return false;
      const names = namesIn(within(path, base));
      return names.some((_, at) => form.test(names.slice(0, at + 1).join("/")));
    });
}

/** Whether a file below a folder is to be searched. */
export function wantedIn<U extends UriLike>({
  folder,
  includes,
  excludes,
}: SearchedFolder<U>): Test {
  const dir = pathOf(folder);
  const forms = (includes ?? []).map(compiled);
  const out = leavesOut(dir, excludes ?? []);
  return (path) => {
    const name = within(path, dir);
    return (forms.length === 0 || forms.some((form) => form.test(name))) && !out(path);
  };
}
