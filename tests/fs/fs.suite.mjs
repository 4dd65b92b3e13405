// `kitbag/fs` against Node itself, git, compilers and bundlers.

export default {
  about: "createFs: random calls as node:fs answers them, git, TypeScript, esbuild, Vite, rules",
  needs: ["npm", "npm:fs", "build", "chromium"],
  seconds: 90,
  minutes: 15,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("fs")),
  soak: (ctx) => ctx.nodeTests(["tests/fs/node.test.mjs"], { env: { KITBAG_FS_SEEDS: "4000" } }),
};
