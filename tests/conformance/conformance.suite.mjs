// kitbag/conformance on the backends that need no server, in Node, workerd and Chromium.

export default {
  about: "the conformance suite in Node, workerd and Chromium",
  needs: ["npm", "build", "chromium", "npm:latest", "npm:older", "npm:filesystems", "npm:runtimes"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("conformance")),
};
