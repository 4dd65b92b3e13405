// Random programs of calls over every class and adapter, and beside deepagents' StateBackend. The
// engines themselves are fuzzed natively: `engines.rs`, in the suite `native`.

import { toolTests } from "../tools/install.mjs";

const files = ["programs", "deepagents", "adapters"].map((name) => `tests/fuzz/${name}.test.mjs`);

export default {
  about: "random programs of calls, over sound and faulty hosts",
  needs: ["npm:fuzz", "npm:latest", "npm:agents", "build"],
  uses: ["deps-agents"],
  run: (ctx) => toolTests(ctx, files),
  soak: (ctx) => toolTests(ctx, files, { KITBAG_FUZZ: "200" }),
};
