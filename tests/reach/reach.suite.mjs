// `serveFiles` and `HttpBackend`: what crosses, what does not, and what a bad network makes of it.

export default {
  about: "serveFiles and HttpBackend: HTTP, conformance, 60 attacks, lost answers, no handle left",
  needs: ["npm", "npm:fs", "build"],
  seconds: 40,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("reach")),
  soak: (ctx) =>
    ctx.nodeTests(["tests/reach/lost.test.mjs"], { env: { KITBAG_REACH_SEEDS: "5000" } }),
};
