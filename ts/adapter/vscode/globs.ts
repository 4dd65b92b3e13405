// VS Code's patterns of names, which are not those of a backend: a text without a slash is a path from where
// the pattern begins, and what is left out is left out with all below it.

import { canonical, namesIn } from "../../core/paths.js";
import { isAt } from "../fs/tree.js";
import { Matcher } from "./matcher.js";
import type { Pattern, SearchedFolder, UriLike } from "./names.js";

/** A text as an expression. */
export const quoted = (text: string) => text.replace(/[$()*+./?[\\\]^{|}-]/g, "\\$&");

type Test = (path: string) => boolean;

/** The path of a file below a directory. */
const within = (path: string, dir: string) => path.slice(dir === "/" ? 1 : dir.length + 1);

export const pathOf = (uri: UriLike): string => canonical(namesIn(uri.path).join("/"));

/** Whether a path, or one above it, has one of these patterns. */
export function leavesOut(dir: string, patterns: readonly Pattern[]): Test {
  const tests = patterns.map((pattern) => {
    const [glob, base] =
      typeof pattern === "string" ? [pattern, dir] : [pattern.pattern, pathOf(pattern.baseUri)];
    const absolute = glob.startsWith("/");
    const form = new Matcher(glob.replace(/^\/|\/$/g, ""));
    return { form, base: absolute && typeof pattern === "string" ? "/" : base };
  });
  return (path) =>
    tests.some(({ form, base }) => {
      if (!isAt(path, base)) return false;
      return path !== base && form.test(within(path, base), true);
    });
}

/** Whether a file below a folder is to be searched. */
export function wantedIn<U extends UriLike>({
  folder,
  includes,
  excludes,
}: SearchedFolder<U>): Test {
  const dir = pathOf(folder);
  const forms = (includes ?? []).map((one) => new Matcher(one));
  const out = leavesOut(dir, excludes ?? []);
  return (path) => {
    const name = within(path, dir);
    return (forms.length === 0 || forms.some((form) => form.test(name))) && !out(path);
  };
}
