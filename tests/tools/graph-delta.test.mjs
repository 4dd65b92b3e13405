// The files of a graph in LangGraph's beta `DeltaChannel`, whose checkpoints have no value but the writes that made
// it: the same as with a channel that is stored whole, also after they are replayed.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DeltaValue,
  MemorySaver,
  ReducedValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { StateBackend } from "kitbag";
import { withHistory } from "kitbag/history";
import { stateBackend } from "kitbag/langchain";
import { z } from "zod";

const merged = (files, update) => {
  const now = { ...files };
  for (const [path, file] of Object.entries(update ?? {})) {
    if (file === null) delete now[path];
    else now[path] = file;
  }
  return now;
};

const schema = z.record(z.string(), z.any()).default(() => ({}));
const KINDS = {
  whole: () => new ReducedValue(schema, { reducer: merged }),
  delta: () =>
    new DeltaValue(schema, {
      reducer: (files, updates) => updates.reduce(merged, files),
      snapshotFrequency: 1000,
    }),
};

/** A graph whose nodes run one after another; those of an array at once. */
function graphOf(kind, checkpointer, steps) {
  const graph = new StateGraph(new StateSchema({ files: KINDS[kind]() }));
  let before = [START];
  for (const [at, step] of steps.entries()) {
    const names = [step].flat().map((run, one) => {
      graph.addNode(`step-${at}-${one}`, async (_state, config) => (await run(config)) ?? {});
      return `step-${at}-${one}`;
    });
    for (const name of names) for (const one of before) graph.addEdge(one, name);
    before = names;
  }
  return graph.compile({ checkpointer });
}

const contents = ({ files }) =>
  Object.fromEntries(
    Object.entries(files)
      .map(([path, { content }]) => [path, [content].flat().join("\n")])
      .sort(),
  );

const good = async (answer) => {
  const { error } = await answer;
  assert.equal(error ?? undefined, undefined);
};

const waiting = () => {
  let done;
  const promise = new Promise((resolve) => {
    done = resolve;
  });
  return { promise, done };
};

/** Runs the steps, and says what the state is then, and what another graph reads from the checkpoints. */
async function both(kind, steps) {
  const saver = new MemorySaver();
  const config = { configurable: { thread_id: "one" } };
  const now = await graphOf(kind, saver, steps).invoke({}, config);
  const { values } = await graphOf(kind, saver, steps).getState(config);
  return [contents(now), contents(values)];
}

const BACKENDS = {
  "new StateBackend()": () => new StateBackend(),
  "stateBackend()": stateBackend(),
};
for (const [name, backend] of Object.entries(BACKENDS)) {
  for (const kind of Object.keys(KINDS)) {
    test(`${name}, ${kind}: steps see each other's files, and so do the checkpoints`, async () => {
      const steps = [
        async (config) => {
          await good(backend(config).write("/a.txt", "one\n"));
          await good(backend(config).write("/gone.txt", "x"));
        },
        async (config) => {
          await good(backend(config).edit("/a.txt", "one", "two"));
          await good(backend(config).delete("/gone.txt"));
        },
        async (config) => good(backend(config).append("/a.txt", "three\n")),
      ];
      const [now, replayed] = await both(kind, steps);
      assert.deepEqual(now, { "/a.txt": "two\nthree\n" });
      assert.deepEqual(replayed, now);
    });

    test(`${name}, ${kind}: of nodes at once with files of their own, all changes are kept`, async () => {
      const paths = Array.from({ length: 10 }, (_, at) => `/own-${at}.txt`);
      const start = async (config) => {
        for (const path of paths) await good(backend(config).write(path, "old\n"));
      };
      const nodes = paths.map((path, at) => async (config) => {
        if (at % 3 === 2) await good(backend(config).delete(path));
        else await good(backend(config).edit(path, "old", `new ${at}`));
      });
      const [now, replayed] = await both(kind, [start, nodes]);
      const left = paths.flatMap((path, at) => (at % 3 === 2 ? [] : [[path, `new ${at}\n`]]));
      assert.deepEqual(now, Object.fromEntries(left));
      assert.deepEqual(replayed, now);
    });

    for (const first of [0, 1]) {
      const loses = kind === "delta" && first === 1;
      const outcome = loses ? "a replay loses the later change" : "no change is lost";
      test(`${name}, ${kind}: one file by nodes at once, node ${first} before the other: ${outcome}`, async () => {
        const turn = waiting();
        const early = async (config) => {
          await good(backend(config).append("/log.txt", "early\n"));
          await good(backend(config).write("/own-early.txt", "1"));
          // After this node has ended and its writes are stored.
          setTimeout(turn.done, 50);
        };
        const late = async (config) => {
          await turn.promise;
          await good(backend(config).append("/log.txt", "late\n"));
          await good(backend(config).delete("/own-early.txt"));
        };
        const start = async (config) => good(backend(config).write("/log.txt", "start\n"));
        const parallel = first === 0 ? [early, late] : [late, early];
        const [now, replayed] = await both(kind, [start, parallel]);
        assert.deepEqual(now, { "/log.txt": "start\nearly\nlate\n" });
        // The early write is stored when the late one is made, and LangGraph replays by the order of nodes:
        // docs/langgraph.md warns of it.
        const lost = { "/log.txt": "start\nearly\n", "/own-early.txt": "1" };
        assert.deepEqual(replayed, loses ? lost : now);
      });
    }
  }
}

/** Bytes that a saver holds after 100 files of 2 KB were written and 20 of them changed, one a step. */
async function sizeOf(kind, stepOf) {
  const saver = new MemorySaver();
  const steps = Array.from({ length: 21 }, (_, at) => (config) => stepOf(config, at));
  const config = { configurable: { thread_id: "one" }, recursionLimit: 100 };
  await graphOf(kind, saver, steps).invoke({}, config);
  let size = 0;
  const count = (value) => {
    if (value instanceof Uint8Array) size += value.length;
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(count);
  };
  count([saver.storage, saver.writes]);
  return size;
}

/** The work of a step over a backend. */
async function change(backend, at) {
  if (at > 0) return good(backend.edit(`/file-${at}.txt`, "old", "new"));
  const text = `old\n${"0123456789abcde\n".repeat(128)}`;
  for (let file = 0; file < 100; file++) await good(backend.write(`/file-${file}.txt`, text));
}

test("checkpoints with a pin are the smallest, those with a channel of changes the next", async (t) => {
  const backend = stateBackend();
  const whole = await sizeOf("whole", (config, at) => change(backend(config), at));
  const delta = await sizeOf("delta", (config, at) => change(backend(config), at));
  const world = withHistory(new StateBackend({ files: {} }), {
    keepIn: { backend: new StateBackend({ files: {} }) },
  });
  const pins = await sizeOf("whole", async (_config, at) => {
    await change(world, at);
    const { pin } = await world.pin();
    return { files: { pin } };
  });
  t.diagnostic(`whole ${whole}, delta ${delta}, pins ${pins} bytes`);
  assert.ok(pins < delta / 10, `${pins}, ${delta}`);
  assert.ok(delta < whole / 10, `${delta}, ${whole}`);
});
