// Whole trees between backends, and tar and zip archives, with the packed package in a project that
// has the libraries of archives.

import { packedProject } from "../lib/packed.mjs";

export default {
  about: "copyTree, compareTrees, tar and zip: conflicts, broken off and resumed, hostile archives",
  needs: ["npm", "npm:optional", "build"],
  seconds: 90,
  run: async (ctx) => {
    const project = await packedProject({ set: "optional" });
    try {
      return await ctx.nodeTests(ctx.testFiles("transfer"), {
        env: { KITBAG_TEST_PROJECT: project.root },
      });
    } finally {
      project.remove();
    }
  },
};
