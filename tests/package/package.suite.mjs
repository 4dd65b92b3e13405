// The packed package, installed in new projects: Node, workerd, Chromium with two bundlers.

export default {
  about:
    "npm pack, then Node, require, workerd, Vite and esbuild in Chromium, Nitro; llms.txt and the skill followed; what a release checks",
  needs: [
    ...["npm", "build", "chromium", "crates"],
    ...["npm:runtimes", "npm:declarations", "npm:servers", "npm:agents", "npm:newest"],
  ],
  seconds: 120,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("package")),
};
