// Every stack that docs/stacks.md names. Runs on request: its tools are a gigabyte.

export default {
  about: "bundlers, frameworks and test runners with the packed package (on request)",
  needs: [
    "npm",
    "build",
    "chromium",
    "npm:stacks",
    "npm:nuxt",
    "npm:runtimes",
    "npm:frameworks",
    "npm:nodes",
  ],
  onRequest: true,
  minutes: 20,
  run: (ctx) => ctx.nodeTests([...ctx.testFiles("stacks"), ...ctx.testFiles("stacks/short")]),
};
