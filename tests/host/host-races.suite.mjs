// Eight processes change one file at the same time, on disk and in a sandbox.

export default {
  about: "eight processes at one file, on disk and in a sandbox",
  needs: ["npm", "build"],
  run: (ctx) => ctx.nodeTests(["tests/host/races.test.mjs"]),
};
