// What a backend's `watch` tells, collected, and waiting until something was told.

/** The longest wait, in milliseconds: for a store that is polled on a busy machine. */
const LONGEST_MS = 150_000;

/** Listens to a backend, or to a path in it. */
export function listening(backend, path) {
  const seen = { paths: new Set(), rescans: 0, calls: 0 };
  let check = () => {};
  const hear = ({ paths, rescan }) => {
    for (const one of paths) seen.paths.add(one);
    seen.rescans += Number(rescan === true);
    seen.calls += 1;
    check();
  };
  const stop = path === undefined ? backend.watch(hear) : backend.watch(path, hear);
  const until = async (done) => {
    let timer;
    try {
      await new Promise((resolve, reject) => {
        // A watcher does not keep the process alive; this does.
        timer = setTimeout(() => {
          const told = JSON.stringify({ ...seen, paths: [...seen.paths] });
          reject(new Error(`${LONGEST_MS} ms have passed; until now was told: ${told}`));
        }, LONGEST_MS);
        check = () => done(seen) && resolve();
        check();
      });
    } finally {
      clearTimeout(timer);
    }
  };
  /** Waits until these paths were told. */
  const has = (...paths) => until(() => paths.every((one) => seen.paths.has(one)));
  /** Waits until a rescan was told: that is how stores say that they listen. */
  const begun = () => until(() => seen.rescans > 0);
  return { seen, stop, until, has, begun };
}
