// SandboxBackend: shell syntax in every argument, and unusual sandboxes.

export default {
  about: "SandboxBackend: shell syntax in every argument, odd sandboxes",
  needs: ["npm", "build"],
  run: (ctx) =>
    ctx.nodeTests(["tests/host/sandbox.test.mjs", "tests/host/sandbox-meanwhile.test.mjs"]),
};
