// Spans and metrics with the real SDK of OpenTelemetry and its exporters in memory, in Node and in
// workerd: one program, run in both.

import { packedProject } from "../lib/packed.mjs";

export default {
  about: "kitbag/opentelemetry with the real SDK, in Node and workerd: spans, parents, metrics",
  needs: ["npm", "npm:optional", "build"],
  run: async (ctx) => {
    const project = await packedProject({ set: "optional" });
    project.copy("tests/traces/program.mjs", "program.mjs");
    try {
      return await ctx.nodeTests(ctx.testFiles("traces"), {
        env: { KITBAG_TEST_PROJECT: project.root },
      });
    } finally {
      project.remove();
    }
  },
};
