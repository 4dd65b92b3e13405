// LocalShellBackend and nodeShell(): limits, odd callbacks, its life.

export default {
  about: "LocalShellBackend and nodeShell(): limits, odd callbacks, its life",
  needs: ["npm", "build"],
  run: (ctx) => ctx.nodeTests(["tests/host/shell.test.mjs"]),
};
