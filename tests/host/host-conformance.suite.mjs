// The conformance suite on the custom, disk, shell and sandbox backends.

export default {
  about: "conformance of custom, disk, shell and sandbox backends",
  needs: ["npm", "build", "ripgrep", "busybox", "npm:runtimes"],
  seconds: 150,
  run: (ctx) =>
    ctx.nodeTests([
      "tests/host/conformance.test.mjs",
      "tests/host/runtimes.test.mjs",
      "tests/host/search.test.mjs",
      "tests/host/moving.test.mjs",
      "tests/host/watching.test.mjs",
      "tests/host/watching-rules.test.mjs",
    ]),
};
