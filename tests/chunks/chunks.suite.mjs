// Chunks alone, in pairs and together.

export default {
  about: "every chunk of the WebAssembly alone, every pair of them, and all together",
  needs: ["npm", "build", "build:testing", "npm:durable"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("chunks")),
};
