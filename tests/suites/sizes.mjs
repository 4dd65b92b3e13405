// Complete bundles of the packed package, held to what each import may weigh.

export default {
  about: "what a page downloads, bundled by esbuild, Vite and webpack",
  needs: ["npm", "build", "npm:bundlers"],
  run: (ctx) => ctx.nodeTests(ctx.testFiles("sizes")),
};
