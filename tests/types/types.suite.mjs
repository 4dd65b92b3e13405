// The hand-written types against deepagents' own, with `tsc --strict`.

export default {
  about: "tsc --strict: assignable to deepagents 1.10.7 and 1.14.1",
  needs: ["npm", "build", "npm:latest", "npm:older"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("types")),
};
