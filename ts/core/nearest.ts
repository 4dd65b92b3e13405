// Misspelled names: which known one is probably meant. Without imports, because adapters use it too.

/** The letters and digits of a name, in lower case. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Number of letters to insert, remove or replace to make one text of the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      const replaced = (row[j] as number) + (one[i] === other[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[other.length] as number;
}

/** The known name that is most like a wrong one, if any is alike. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wrong = plain(name).slice(0, 64);
  let least = wrong.length < 5 ? 2 : 3;
  let best: string | undefined;
  for (const one of known) {
    const right = plain(one);
    // `timeout` for `timeoutMs`, `root` for `rootDir`.
    const part = wrong.length > 2 && (right.startsWith(wrong) || wrong.startsWith(right));
    // The longest part wins: `readOnlyPrefixess` is no `readOnly`.
    const like = 1 - Math.min(right.length, wrong.length) / 1000;
    const far = wrong === right ? 0 : part ? like : distance(wrong, right);
    if (far < least) [least, best] = [far, one];
  }
  return best;
}

/** What to do about a name that is not known, as the end of a sentence. */
export function instead(name: string, known: readonly string[], what: string): string {
  const meant = nearest(name, known);
  if (meant === undefined && known.length === 1) return `the only one is ${known[0]}`;
  const all = known.length > 1 ? `the ${what} are ${known.join(", ")}` : "";
  if (meant === undefined) return all;
  return `is "${meant}" meant?${all && ` T${all.slice(1)}`}`;
}

/**
 * Options that narrow what may be reached, or whose files they are. One that is given without a value,
 * such as of a variable of the environment that is not set, must not mean the default, which is more.
 */
const NARROWS = new Set([
  ...["rootDir", "workingDirectory", "root", "directory", "path", "prefix", "bucket", "database"],
  ...[
    "table",
    "namespace",
    "repo",
    "keepIn",
    "paths",
    "operations",
    "mode",
    "defaultMode",
    "policy",
  ],
  ...["permissions", "readOnly", "readOnlyPrefixes", "quota", "rateLimit", "inspect"],
  ...["labels", "flows", "tools", "ignore", "roots", "key", "hooks", "allowExecute", "hosts"],
]);

/** Throws about an option that is there, but without a value, if it narrows. */
export function notEmpty(of: string, name: string, narrows = NARROWS.has(name)): void {
  if (!narrows) return;
  throw new TypeError(
    `${of}: option "${name}" has no value; give it one, or leave the option out for the default`,
  );
}

/** Throws if an object has a name that is not known, and says which one is probably meant. */
export function onlyKnown(of: string, given: unknown, known: readonly string[]): void {
  if (given === undefined || given === null) return;
  if (typeof given !== "object" || Array.isArray(given)) {
    throw new TypeError(
      `${of}: options must be an object, not ${Array.isArray(given) ? "an array" : `a ${typeof given}`}`,
    );
  }
  for (const name of Object.keys(given)) {
    if ((given as Record<string, unknown>)[name] == null) notEmpty(of, name);
    if (known.includes(name)) continue;
    throw new TypeError(
      `${of}: there is no option ${/^[\w$.-]{0,64}$/.test(name) ? JSON.stringify(name) : "with that name"}; ${instead(name, known, "options")}`,
    );
  }
}

/**
 * Runs what makes an object of the caller's options: an error about them begins with the function that was
 * called, and not with the one that reads them for it.
 */
export function calledAs<T>(called: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof TypeError) {
      error.message = error.message
        .replace(/^createFileTools(?=:)/, called)
        .replace(/^withPolicy: (?=permissions|the backend)/, `${called}: `)
        .replace(/^withPolicy: /, `${called}: policy: `);
    }
    throw error;
  }
}
