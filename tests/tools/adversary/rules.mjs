// The rules of a tool set, as the library gets them and as a model so simple that it is unlikely to be wrong.

const below = (path, directory) => path === directory || path.startsWith(`${directory}/`);
const inAny = (path, directories) => directories.some((one) => below(path, one));

/** Directories that an agent may see if its rules name those instead of what they hide. */
const ALLOWED = ["/open", "/locked", "/web", "/ask", "/protected", "/mnt"];

const both = ["read", "write"];

/** Rules about paths in one of the forms that permissions have; `hidden` and so on are the model. */
export function rulesOf(dice, { hides, locks, asks, keys }) {
  const permissions = [];
  const policy = {};
  if (asks.length > 0) {
    const paths = asks.map((one) => `${one}/**`);
    permissions.push({ operations: both, paths, mode: "ask", name: "ask-first" });
    policy.onAsk = () => false;
  }
  if (keys) permissions.push({ operations: both, paths: ["/**/*.key"], mode: "deny" });
  const isPrefix = dice.chance(50);
  if (locks.length > 0) {
    if (isPrefix) policy.readOnlyPrefixes = locks;
    else permissions.push({ operations: ["write"], paths: locks, mode: "deny" });
  }
  const form = dice.weighed({ globs: 3, names: 3, reads: 2, allowed: 2 });
  const shown = form === "allowed" ? [...ALLOWED, ...others(hides)] : undefined;
  if (shown) {
    permissions.push({ operations: both, paths: shown.map((one) => `${one}/**`), mode: "allow" });
    permissions.push({ operations: both, paths: ["/*", "/*/**"], mode: "deny" });
  } else if (hides.length > 0) {
    const paths = form === "names" ? hides : hides.map((one) => `${one}/**`);
    permissions.push({ operations: form === "reads" ? ["read"] : both, paths, mode: "deny" });
  }
  // A pattern with a wildcard in its last name is about files, not about what is below such a directory.
  const hasKey = (path) => keys && path.endsWith(".key");
  const isAsked = (path) => inAny(path, asks);
  return {
    policy: { ...policy, permissions },
    isHidden: (path) =>
      !isAsked(path) && (hasKey(path) || inAny(path, hides) || (shown && !inAny(path, shown))),
    isAsked,
    isLocked: (path) => inAny(path, locks),
  };
}

const HIDDEN = ["/hidden/one", "/hidden/two", "/hidden/both"];
const others = (hides) => HIDDEN.filter((one) => !hides.includes(one));

/** Rules of several places together. */
export const joined = (all) => ({
  isHidden: (path) => all.some((one) => one.isHidden(path)),
  isAsked: (path) => all.some((one) => one.isAsked(path)),
  isLocked: (path) => all.some((one) => one.isLocked(path)),
});

/** The rules of a client that has told these roots; none of them may be known. */
export const rooted = (roots) => ({
  isHidden: (path) => !inAny(path, roots),
  isAsked: () => false,
  isLocked: () => false,
});
