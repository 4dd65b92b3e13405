// The playground, as a person uses it: built as static files, under a path of its own.

export default {
  about: "the playground in Chromium and Firefox",
  needs: ["npm", "build", "www", "chromium", "firefox"],
  // Times are measured.
  alone: true,
  // Its packages are not installed yet when suites are loaded.
  run: async (ctx) => (await import("./run.mjs")).run(ctx),
  soak: async (ctx) => (await import("./run.mjs")).soak(ctx),
};
