// The documents that describe this protocol: their examples, and every feature that they name.

export default {
  about: "examples and features of the protocol's documents, with deepagents 1.10.7 and 1.14.1",
  needs: ["npm", "build", "npm:latest", "npm:older"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("documents")),
};
