// Random programs of calls over every class, and beside deepagents' StateBackend. The engines are
// fuzzed natively (`engines.rs`, in the suite `native`), adapters in the suite `tools-changes`.

const files = ["programs", "deepagents", "claims", "receipts"].map(
  (name) => `tests/fuzz/${name}.test.mjs`,
);

export default {
  about: "random programs of calls, over sound and faulty hosts",
  needs: ["npm:fuzz", "npm:latest", "build"],
  seconds: 60,
  run: (ctx) => ctx.nodeTests(files),
  soak: (ctx) => ctx.nodeTests(files, { env: { KITBAG_FUZZ: "200" } }),
};
