// One agent object and one bare StateBackend for many threads at the same time: each thread's
// files are in its own checkpoint, and nowhere else. Nothing is imported but kitbag.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as latest from "../deps/latest/deepagents.mjs";
import * as older from "../deps/older/deepagents.mjs";
import { CompositeBackend, StateBackend, StoreBackend, withPolicy } from "../lib/kitbag.mjs";
import { answersOf, scriptedModels } from "../lib/model.mjs";
import { allAtOnce, alone, checkpointed, delegated, THREADS } from "./work.mjs";

const slowly = () => new Promise((resolve) => setImmediate(resolve));

const PLACES = {
  alone: () => new StateBackend(),
  "as the default of a composite": () =>
    new CompositeBackend(new StateBackend(), { "/other/": new StateBackend({ files: {} }) }),
  "behind a policy": () =>
    withPolicy(new StateBackend(), {
      readOnlyPrefixes: ["/secret/"],
      inspect: slowly,
      // Exactly what a thread needs: another thread's files must not count.
      quota: { maxFiles: 2 },
    }),
  "in a composite behind a policy": () =>
    withPolicy(
      new CompositeBackend(new StateBackend(), { "/o/": new StateBackend({ files: {} }) }),
      {
        permissions: [{ operations: ["read", "write"], paths: ["/**"] }],
        quota: { maxFiles: 2 },
      },
    ),
};

const STORES = {
  "of the graph's own store": (backend) => backend,
  "as the default of a composite": (backend) =>
    new CompositeBackend(backend, { "/o/": new StateBackend({ files: {} }) }),
  "in a composite behind a policy": (backend) =>
    withPolicy(new CompositeBackend(backend, { "/o/": new StateBackend({ files: {} }) }), {
      inspect: slowly,
      quota: { maxFiles: 2 },
    }),
};

for (const [version, deepagents] of [
  ["1.14.1", latest],
  ["1.10.7", older],
]) {
  const ScriptedModel = scriptedModels(deepagents);
  const agentOf = (backend, turnsFor, options) =>
    deepagents.createDeepAgent({
      model: new ScriptedModel(turnsFor),
      backend,
      checkpointer: new deepagents.MemorySaver(),
      ...options,
    });

  describe(`${THREADS.length} threads of one agent, deepagents ${version}`, () => {
    for (const [place, make] of Object.entries(PLACES)) {
      test(`a bare StateBackend ${place}`, async () => {
        const backend = make();
        await allAtOnce(agentOf(backend, alone), answersOf, checkpointed);
        const outside = await backend.ls("/");
        assert.deepEqual(
          outside.files.filter(({ is_dir }) => !is_dir),
          [],
          "its own memory is empty",
        );
        assert.equal((await backend.read("/own.txt")).code, "not_found");
      });
    }

    // A subagent is the same call from one graph deeper: the plainest place and the one that has all.
    for (const place of ["alone", "in a composite behind a policy"]) {
      test(`a subagent's, ${place}`, () =>
        allAtOnce(agentOf(PLACES[place](), delegated), answersOf, checkpointed));
    }

    const namespace = ({ serverInfo, executionInfo }) => [
      "files",
      serverInfo.user.identity,
      executionInfo.threadId,
    ];
    const user = (thread) => `user-of-${thread}`;
    const asUser = (thread) => ({
      configurable: { langgraph_auth_user: { identity: user(thread) } },
    });
    /** All that the store holds for a thread's user: in one namespace, for one thread. */
    const heldBy = (store) => async (_agent, _config, thread) => {
      const items = await store.search(["files", user(thread)], { limit: 100 });
      const own = items.filter((item) => item.namespace[1] === user(thread));
      assert.ok(own.every((item) => item.namespace[2] === thread));
      return Object.fromEntries(own.map(({ key, value }) => [key, value]));
    };

    const ofUser = (turnsFor, around) => {
      const store = new deepagents.InMemoryStore();
      const agent = agentOf(around(new StoreBackend({ namespace })), turnsFor, { store });
      return allAtOnce(agent, answersOf, heldBy(store), asUser);
    };

    for (const [place, around] of Object.entries(STORES)) {
      test(`a StoreBackend by user, ${place}`, () => ofUser(alone, around));
    }

    test("a subagent's StoreBackend by user", () => ofUser(delegated, (backend) => backend));
  });
}
