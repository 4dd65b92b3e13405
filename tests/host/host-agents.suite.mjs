// deepagents recognises sandboxes and runs commands in them.

export default {
  about: "deepagents recognises sandboxes and runs commands in them",
  needs: ["npm", "build", "npm:latest"],
  run: (ctx) => ctx.nodeTests(["tests/host/agents.test.mjs"]),
};
