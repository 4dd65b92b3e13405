// FilesystemBackend: attempts to reach files outside of its folder.

export default {
  about: "FilesystemBackend: attempts to get out of its folder",
  needs: ["npm", "build", "ripgrep"],
  run: (ctx) =>
    ctx.nodeTests(
      ["escape", "linked-refusals", "links", "programs", "names", "prompt"].map(
        (name) => `tests/host/${name}.test.mjs`,
      ),
    ),
};
