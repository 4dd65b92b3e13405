// A deep agent over three storages: a folder on this machine, memories of the user in a LangGraph store,
// and a scratch pad in the thread's state. What a message changed in the first two is made in one
// commit at its end, and can be taken back.

import { createDeepAgent } from "deepagents";
import {
  begin,
  CompositeBackend,
  FilesystemBackend,
  StateBackend,
  StoreBackend,
  undo,
} from "kitbag";

/** `model`: a chat model of LangChain; `store`: a store of LangGraph; `folder`: must exist. */
export function makeAgent({ model, folder, store, user, checkpointer }) {
  const lasting = new CompositeBackend(
    new FilesystemBackend({ rootDir: folder, writeMode: "overwrite" }),
    {
      "/memories/": new StoreBackend({
        store,
        namespace: ["memories", user],
        writeMode: "overwrite",
      }),
    },
  );
  const turn = begin(lasting);
  // The state belongs to the graph: its checkpoints take it back, and no commit outside can write it.
  const backend = new CompositeBackend(turn, {
    "/scratch/": new StateBackend({ writeMode: "overwrite" }),
  });
  const agent = createDeepAgent({
    model,
    backend,
    checkpointer,
    systemPrompt:
      "The project is in /. Take notes in /scratch/. Keep what you learn about the user in /memories/.",
  });
  const receipts = [];

  return {
    /** Answers a message: the text, and the files that it changed, or why none was. */
    async answer(content, config) {
      try {
        const state = await agent.invoke({ messages: [{ role: "user", content }] }, config);
        const { receipt, error } = await turn.commit();
        if (receipt) receipts.push(receipt);
        const changed = receipt?.files.map(({ path }) => path) ?? [];
        return { text: state.messages.at(-1).text, changed, error };
      } finally {
        // After an error, or if somebody else changed the same files: nothing stays for the next message.
        await turn.discard(["/**"]);
      }
    },

    /** Takes the last commit back, unless somebody has changed one of its files since. */
    async undo() {
      const receipt = receipts.at(-1);
      if (!receipt) return { error: "There is nothing to take back" };
      const result = await undo(lasting, receipt);
      if (!result.error) receipts.pop();
      return result;
    },
  };
}
