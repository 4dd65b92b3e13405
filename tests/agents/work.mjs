// What every thread does with its files, and how they are looked at afterwards. The words "of
// thread-N" in a file tell whose it is.

import assert from "node:assert/strict";

/** `npm run soak -- agents` has fifty. */
const COUNT = Number(process.env.KITBAG_THREADS ?? 16);
export const THREADS = Array.from({ length: COUNT }, (_, at) => `thread-${at}`);

const edit = (from, to) => [
  "edit_file",
  { file_path: "/own.txt", old_string: from, new_string: to },
];

/** Two messages' worth of turns: a file is made, then changed twice in one step; later again. */
const work = (thread) => [
  [["write_file", { file_path: "/own.txt", content: `one two of ${thread}\n` }]],
  [["read_file", { file_path: "/own.txt" }]],
  [
    edit("one", "1"),
    edit("two", "2"),
    ["write_file", { file_path: `/dir/${thread}.txt`, content: `more of ${thread}\n` }],
  ],
  [
    ["ls", { path: "/" }],
    ["glob", { pattern: "**/*.txt", path: "/" }],
    ["grep", { pattern: "of thread", path: "/", output_mode: "content" }],
  ],
];

const resumed = [[["read_file", { file_path: "/own.txt" }]], [edit("2 of", "3 of")]];

/** The conversation of a thread: its work, a pause until it is resumed, and the rest. */
export const alone = (thread) => [...work(thread), undefined, ...resumed];

/** The same, with the work done by a subagent. */
export const delegated = (first) =>
  first.startsWith("sub ")
    ? work(first.slice(4))
    : [
        [["task", { description: `sub ${first}`, subagent_type: "general-purpose" }]],
        undefined,
        ...resumed,
      ];

const said = (text) => ({ messages: [{ role: "user", content: text }] });

export const contents = (files) =>
  Object.fromEntries(
    Object.entries(files ?? {})
      .map(([path, { content }]) => [path, Array.isArray(content) ? content.join("\n") : content])
      .sort(),
  );

const left = (thread, number) => ({
  [`/dir/${thread}.txt`]: `more of ${thread}\n`,
  "/own.txt": `1 ${number} of ${thread}\n`,
});

/** All threads at once with one agent, twice; `stateOf` reads what is checkpointed. */
export async function allAtOnce(agent, answersOf, stateOf, config = () => ({})) {
  const configOf = (thread) => ({
    recursionLimit: 100,
    ...config(thread),
    configurable: { thread_id: thread, ...config(thread).configurable },
  });
  for (const number of [2, 3]) {
    const states = await Promise.all(
      THREADS.map((thread) => agent.invoke(said(thread), configOf(thread))),
    );
    for (const [at, thread] of THREADS.entries()) {
      const text = answersOf(states[at]).join("\n");
      assert.doesNotMatch(text, /[Ee]rror|[Cc]annot/, thread);
      const seen = new Set(text.match(/thread-\d+/g));
      seen.delete(thread);
      assert.deepEqual([...seen], [], `${thread} saw files of others`);
      assert.deepEqual(
        contents(await stateOf(agent, configOf(thread), thread)),
        left(thread, number),
      );
    }
  }
}

/** The files in a thread's checkpoint. */
export const checkpointed = async (agent, config) =>
  (await (agent.graph ?? agent).getState(config)).values.files;
