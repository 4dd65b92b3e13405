// What the adapters change while others change it too, and the tools over backends that have
// nothing but what the protocol asks of one.

import { toolTests } from "../tools/install.mjs";

export default {
  about: "memory tool and shell beside other writers; every tool over minimal backends",
  needs: ["npm:agents", "build"],
  uses: ["deps-agents"],
  run: (ctx) => toolTests(ctx, ["memory", "shell-changes", "conditions", "foreign"]),
};
