// The own tests of @zenfs/core that fail over `kitbag/fs`, each with its reason. Tests for links, extended
// attributes and `promises.exists` are left out by its own flags.

const DIFFERENCES = {
  "a creation is told as `change`: backends tell paths, not kinds of change": [
    ...["Directories can be watched", "File renames are detected"],
    'watch("/") receives events for files under root #293',
  ],
  "no `watchFile`": ["Changes are detected with watchFile()", "unwatchFile() works"],
  "no `mkdtempDisposable`": ["mkdtempDisposable"],
  "errors have paths as the caller wrote them, as in Node": ["rename", "link"],
  "entries have the directory as the caller wrote it, as in Node": [
    "readdir returns Dirent recursively",
  ],
  "modes of new directories are under a umask of 022, as in Node by default": ["mkdir, recursive"],
};

const AT_ONCE = {
  "no `mkdtempDisposableSync`": ["mkdtempDisposableSync"],
  "errors have paths as the caller wrote them, as in Node": ["renameSync", "linkSync"],
  "modes of new directories are under a umask of 022, as in Node by default": [
    "mkdirSync, recursive",
  ],
  "a promisified `read` returns an object, as in Node": ["read using callback API #239"],
  "no time of the last access": ["read changes atime"],
  "no owners": ["hasAccess for non-root access"],
};

const NEEDS_SYNC = {
  "calls functions that end with `Sync`": [
    ...["dir.test.ts", "WriteStream writes data correctly", "utimes works"],
    ...["new Date(...)", "new Date()", "number"],
  ],
};

const named = (...tables) =>
  Object.fromEntries(
    tables.flatMap((table) =>
      Object.entries(table).flatMap(([why, names]) => names.map((name) => [name, why])),
    ),
  );

/** By backend: the tests that fail, with the reasons, and how many pass. */
export const EXPECTED = {
  memory: { failing: named(DIFFERENCES, AT_ONCE), passing: 160 },
  folder: { failing: named(DIFFERENCES, NEEDS_SYNC), passing: 95 },
};
