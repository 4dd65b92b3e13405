// CustomBackend over the storage of the documentation, and over faulty storages.

export default {
  about: "CustomBackend: a storage of one's own",
  needs: ["build"],
  run: (ctx) =>
    ctx.nodeTests(
      ["custom", "cancelled", "cancelled-buckets", "unsized", "search-aborts"].map(
        (name) => `tests/host/${name}.test.mjs`,
      ),
    ),
};
