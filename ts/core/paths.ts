// Paths as a caller may write them, in the form that the core gives them (`VPath` of `src/core/path.rs`):
// empty and `.` segments are left out. For code that names or compares paths before a backend sees them;
// a backend takes any spelling, and refuses `..`, `\` and control characters itself.

/** The names in a path, without empty ones and `.`. */
export function namesIn(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

/** A path in the form in which answers have it. */
export function canonical(path: string): string {
  return `/${namesIn(path).join("/")}`;
}

/** A directory as the beginning of the paths below it: `/` or `/notes/`. */
export function prefixOf(names: readonly string[]): string {
  return names.length === 0 ? "/" : `/${names.join("/")}/`;
}

/** A pattern that only this path, or this name, matches: what means something in a pattern is escaped. */
export function exactly(path: string): string {
  return path.replace(/[\\*?[\]{}()!@+|,^]/g, "\\$&");
}
