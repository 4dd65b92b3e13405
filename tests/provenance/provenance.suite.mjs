// Labels and flows: attempts to carry planted text into protected files, and what labels survive.

import { toolTests } from "../tools/install.mjs";

export default {
  about: "kitbag/provenance: planted text, by every tool, adapter and wrapper; labels; questions",
  needs: ["npm", "npm:agents", "npm:optional", "build"],
  uses: ["deps-agents"],
  run: (ctx) => toolTests(ctx, ctx.testFiles("provenance")),
};
