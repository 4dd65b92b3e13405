// Counts every function that goes into or out of any instance of WebAssembly, the primary's and the
// chunks' alike, for any host. Only what is loaded after this module is counted.

let counts = new Map();

function counted(direction, name, call) {
  return (...args) => {
    const key = `${direction} ${name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return call(...args);
  };
}

const counting = (direction, record) =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      typeof value === "function" ? counted(direction, name, value) : value,
    ]),
  );

/** Number of instances that were made. */
export let instances = 0;

const { Instance } = WebAssembly;
WebAssembly.Instance = class {
  constructor(module, imports = {}) {
    instances += 1;
    const outward = Object.entries(imports).map(([from, record]) => [
      from,
      counting("out", record),
    ]);
    this.exports = counting("in", new Instance(module, Object.fromEntries(outward)).exports);
  }
};

/** What one more call takes: numbers by name. */
export async function crossings(call) {
  for (let n = 0; n < 3; n++) {
    const { error } = await call();
    if (error !== undefined) throw new Error(error);
  }
  counts = new Map();
  await call();
  // A StateBackend that is called directly returns its result at once, by another entry.
  const starts = counts.get("in call_now");
  if (starts !== undefined) {
    counts.delete("in call_now");
    counts.set("in call_start", starts);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Operations on a file that exists, below a directory. The backends overwrite. */
export const OPERATIONS = {
  read: (backend, at) => backend.read(`${at}/a.txt`),
  write: (backend, at) => backend.write(`${at}/b.txt`, "four\n"),
  // There and back, so that each time is like the first.
  edit: async (backend, at) => {
    await backend.edit(`${at}/a.txt`, "two", "TWO");
    return backend.edit(`${at}/a.txt`, "TWO", "two");
  },
  ls: (backend, at) => backend.ls(at || "/"),
  glob: (backend, at) => backend.glob("*.txt", at || "/"),
  grep: (backend, at) => backend.grep("two", at || "/"),
};

export const TEXT = "one\ntwo\nthree\n";

export const permissions = [
  { operations: ["read", "write"], paths: ["/never/**"], mode: "deny" },
  { operations: ["write"], paths: ["/**/*.lock"], mode: "deny" },
];
