// The adapters with the real packages in Chromium and in workerd: the same task as in Node, over
// memory and IndexedDB, or memory and D1, with a policy and a shell.

export default {
  about: "the adapters in Chromium (IndexedDB) and workerd (D1): one task, every message checked",
  needs: ["npm", "npm:agents", "build", "chromium"],
  uses: ["deps-agents"],
  minutes: 6,
  // The browser's package is there when the suite runs, not yet when all suites are listed.
  run: async (ctx) => (await import("./hosts/run.mjs")).run(ctx),
};
