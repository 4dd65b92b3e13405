// Changes that the adapters make while other writers change the same files, and the tools over
// backends with only the required methods of the protocol.

import { named, toolTests } from "./install.mjs";

export default {
  about: "memory tool and shell beside other writers; every tool over minimal backends",
  needs: ["npm:agents", "build"],
  uses: ["deps-agents"],
  run: (ctx) =>
    toolTests(ctx, named("memory", "shell-changes", "cancelled-changes", "conditions", "foreign")),
};
