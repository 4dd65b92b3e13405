// Chunks alone, in pairs and together: in Node, workerd, Chromium and Firefox.

export default {
  about: "every chunk of the WebAssembly alone, every pair of them, and all together",
  needs: ["npm", "build", "build:testing", "npm:durable", "busybox", "chromium", "firefox"],
  seconds: 150,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("chunks")),
};
