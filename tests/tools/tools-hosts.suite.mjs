// The adapters with the real packages in Chromium and in workerd: the same task as in Node, over
// memory and IndexedDB, or memory and D1, with a policy and a shell.

import { run } from "./hosts/run.mjs";

export default {
  about: "the adapters in Chromium (IndexedDB) and workerd (D1): one task, every message checked",
  needs: ["npm", "npm:agents", "build", "chromium"],
  uses: ["deps-agents"],
  minutes: 6,
  run,
};
