// What a backend's `watch` tells, collected, and waiting until something was told.

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
    // A watcher does not keep the process alive.
    const alive = setInterval(() => {}, 1_000);
    await new Promise((resolve) => {
      check = () => done(seen) && resolve();
      check();
    });
    clearInterval(alive);
  };
  /** Waits until these paths were told. */
  const has = (...paths) => until(() => paths.every((one) => seen.paths.has(one)));
  /** Waits until a rescan was told: that is how stores say that they listen. */
  const begun = () => until(() => seen.rescans > 0);
  return { seen, stop, until, has, begun };
}
