// CompositeBackend and policies: conformance, inside deepagents, and under attack.

export default {
  about: "CompositeBackend, withPolicy: conformance, bypasses, agreement with deepagents",
  needs: ["npm", "build", "chromium", "npm:latest", "npm:older"],
  seconds: 125,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("router")),
};
