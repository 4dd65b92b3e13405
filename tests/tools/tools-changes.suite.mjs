// Changes that the adapters make while other writers change the same files, or that are cancelled;
// the tools over backends with only the required methods of the protocol; and random calls.

import { named, toolTests } from "./install.mjs";

const files = named(
  ...[
    "memory",
    "shell-changes",
    "cancelled-changes",
    "conditions",
    "foreign",
    "random-calls",
    "own-moves",
    "outages",
  ],
);

export default {
  about:
    "memory tool and shell beside other writers; every tool over minimal backends; random calls",
  needs: ["npm:agents", "npm:fuzz", "build"],
  uses: ["deps-agents"],
  run: (ctx) => toolTests(ctx, files),
  soak: (ctx) => toolTests(ctx, named("random-calls"), { KITBAG_FUZZ: "200" }),
};
