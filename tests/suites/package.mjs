// The tarball as a stranger installs it: Node, workerd, Chromium by way of two bundlers.

export default {
  about: "npm pack, then Node, require, workerd, Vite and esbuild in Chromium",
  needs: ["npm", "build", "chromium"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("package")),
};
