// Three of the stacks that docs/stacks.md names, which differ most, in each run. `npm test -- stacks` runs all.

export default {
  about: "Astro, Rsbuild and edge-runtime with the packed package",
  needs: ["npm", "build", "chromium", "npm:frameworks", "npm:nodes"],
  seconds: 60,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("stacks/short")),
};
