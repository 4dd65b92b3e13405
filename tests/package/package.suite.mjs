// The packed package, installed in new projects: Node, workerd, Chromium with two bundlers.

export default {
  about:
    "npm pack, then Node, require, workerd, Vite and esbuild in Chromium; what a release checks",
  needs: ["npm", "build", "chromium", "npm:runtimes", "npm:declarations"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("package")),
};
