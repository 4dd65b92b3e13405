// Where a command ended. A shell of just-bash begins anew with each command, and its error output
// stands behind its output, so the directory is printed at the end between two marks.

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A script that runs `command` in `cwd`, and tells the directory in which it ended. */
export function within(cwd: string, command: string, mark: string): string {
  return `cd ${quoted(cwd)}\n${command}\ncode=$?\nprintf '${mark}%s${mark}' "$PWD"\nexit $code`;
}

/** What the command said, and the directory, if it came to its end. */
export function ended(output: string, mark: string): { said: string; cwd?: string } {
  const from = output.indexOf(mark);
  const to = output.indexOf(mark, from + mark.length);
  if (from < 0 || to < 0) return { said: output };
  const said = output.slice(0, from) + output.slice(to + mark.length);
  const cwd = output.slice(from + mark.length, to);
  return cwd.startsWith("/") ? { said, cwd } : { said };
}

/** A mark that no command prints by chance, and none can know. */
export const newMark = () => `\u0001${crypto.randomUUID()}\u0001`;
