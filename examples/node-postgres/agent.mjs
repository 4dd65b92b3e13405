// A deep agent whose files have three homes: the thread's state for work in progress, PostgreSQL
// for memories of the user, and a folder of policies that it may read and never change.

import { createDeepAgent } from "deepagents";
import {
  CompositeBackend,
  FilesystemBackend,
  PostgresBackend,
  StateBackend,
  withPolicy,
} from "kitbag";

/** `model`: a chat model of LangChain; `client`: a pool of `pg`, or PGlite. */
export function makeAgent({ model, client, user, policies, audit, checkpointer }) {
  const files = new CompositeBackend(new StateBackend(), {
    "/memories/": new PostgresBackend({ client, namespace: ["memories", user], migrate: true }),
    "/policies/": new FilesystemBackend({ rootDir: policies }),
  });
  const backend = withPolicy(files, {
    permissions: [{ operations: ["write"], paths: ["/policies/**"], mode: "deny" }],
    audit,
  });
  return createDeepAgent({
    model,
    backend,
    checkpointer,
    systemPrompt:
      "Read /policies/ before you decide anything. Keep what you learn about the user in /memories/.",
  });
}
