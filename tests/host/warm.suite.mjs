// What FilesystemBackend keeps of a folder between searches.

const run = (ctx, histories) =>
  ctx.nodeTests(["tests/host/warm.test.mjs"], { env: { KITBAG_HISTORIES: histories } });

export default {
  about: "searches of a folder between changes of other programs, against ripgrep",
  needs: ["build", "ripgrep", "npm:runtimes"],
  seconds: 45,
  run: (ctx) => run(ctx, "100"),
  soak: (ctx) => run(ctx, "5000"),
};
