// Random programs of calls over every class and adapter, and beside deepagents' StateBackend.

const files = ["programs", "deepagents", "adapters"].map((name) => `tests/fuzz/${name}.test.mjs`);

export default {
  about: "random programs of calls, over sound and faulty hosts",
  needs: ["npm:fuzz", "npm:latest", "npm:agents", "build"],
  uses: ["deps-agents"],
  run: (ctx) => ctx.nodeTests(files),
  soak: (ctx) => ctx.nodeTests(files, { env: { KITBAG_FUZZ: "200" } }),
};
