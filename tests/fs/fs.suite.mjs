// `kitbag/fs` against Node itself, git, compilers and bundlers; and as a file system of Node 26.

import { environmentOf, nodeOf } from "../../scripts/lib/nodes.mjs";

const VFS = "tests/fs/vfs.test.mjs";

export default {
  about:
    "createFs: random calls as node:fs answers them, git, TypeScript, esbuild, Vite, rules; node:vfs of Node 26",
  needs: ["npm", "npm:fs", "npm:nodes", "build", "chromium"],
  seconds: 90,
  minutes: 15,
  run: async (ctx) =>
    ctx.sum([
      await ctx.nodeTests(ctx.testFiles("fs").filter((file) => !file.endsWith("vfs.test.mjs"))),
      await ctx.nodeTests([VFS], {
        node: nodeOf("26"),
        env: { ...environmentOf("26"), NODE_OPTIONS: "--experimental-vfs" },
      }),
    ]),
  soak: (ctx) => ctx.nodeTests(["tests/fs/node.test.mjs"], { env: { KITBAG_FS_SEEDS: "4000" } }),
};
