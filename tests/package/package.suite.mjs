// The packed package, installed in new projects: Node, workerd, Chromium with two bundlers.

export default {
  about: "npm pack, then Node, require, workerd, Vite and esbuild in Chromium",
  needs: ["npm", "build", "chromium", "npm:runtimes"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("package")),
};
