// kitbag/conformance on the backends that need no server, in Node, workerd and Chromium.

// deepagents' FilesystemBackend searches with ripgrep where that is installed, and departs in other cases
// where it is not.
const needs = ["npm", "build", "ripgrep", "chromium"];

export default {
  about: "the conformance suite in Node, workerd and Chromium",
  needs: [...needs, "npm:latest", "npm:older", "npm:filesystems", "npm:runtimes"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("conformance")),
};
