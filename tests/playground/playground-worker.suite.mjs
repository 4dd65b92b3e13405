// The Worker of `www/worker/`, in workerd.

export default {
  about: "the Worker that serves files over MCP and HTTP",
  needs: ["npm", "build", "npm:agents"],
  uses: ["deps-agents"],
  run: (ctx) => ctx.nodeTests(["tests/playground/worker.test.mjs"]),
};
