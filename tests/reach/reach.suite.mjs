// `serveFiles` and `HttpBackend`: what crosses, what does not, and what a bad network makes of it.

export default {
  about: "serveFiles and HttpBackend: HTTP, conformance, 60 attacks, lost answers, no handle left",
  needs: ["npm", "npm:fs", "build", "openssl"],
  seconds: 55,
  run: async (ctx) => {
    const all = await ctx.nodeTests(ctx.testFiles("reach"));
    const files = ["attacks", "conformance", "pieces", "wire"];
    const listener = await ctx.nodeTests(
      files.map((name) => `tests/reach/${name}.test.mjs`),
      { env: { KITBAG_REACH_LISTENER: "1", KITBAG_REACH_FETCH: "1" } },
    );
    return ctx.sum([all, listener]);
  },
  soak: (ctx) =>
    ctx.nodeTests(["tests/reach/lost.test.mjs"], { env: { KITBAG_REACH_SEEDS: "5000" } }),
};
