// Complete bundles of the packed package, compared with the size limit of each import.

export default {
  about: "what a page downloads, bundled by esbuild, Vite and webpack",
  needs: ["npm", "build", "npm:bundlers"],
  seconds: 45,
  run: (ctx) => ctx.nodeTests(ctx.testFiles("sizes")),
};
