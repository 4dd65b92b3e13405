// The figures of `npm run figures` that are about structure, and the list of public names.

export default {
  about: "figures of the structure are at most their ceilings; the list of public names",
  needs: ["npm", "npm:agents", "npm:optional", "build", "build:named"],
  seconds: 10,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("figures")),
};
