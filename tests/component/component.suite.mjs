// The WebAssembly component in Node by way of jco: the answers of the npm package, and a hostile host.

export default {
  about:
    "the WebAssembly component: answers of the npm package, imports, size, speed, hostile hosts, WASI",
  needs: ["npm", "build", "component", "npm:component"],
  uses: ["cargo"],
  seconds: 60,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("component")),
};
