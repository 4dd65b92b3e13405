// LocalShellBackend and nodeShell(): limits, faulty callbacks, life cycle.

export default {
  about: "LocalShellBackend and nodeShell(): limits, odd callbacks, its life",
  needs: ["npm", "build"],
  seconds: 50,
  run: (ctx) =>
    ctx.nodeTests(
      ["shell", "defaults", "leftovers", "permissions", "modes", "real-paths"].map(
        (name) => `tests/host/${name}.test.mjs`,
      ),
    ),
};
