import { CompositeBackend, IndexedDbBackend, StateBackend } from "kitbag";
import { bashExecute } from "kitbag/just-bash";

const tree = new CompositeBackend(new StateBackend(), {
  "/memories/": new IndexedDbBackend({ database: "agent" }),
});
const execute = bashExecute(tree);

const { output, exitCode } = await execute("grep -rl TODO / | sort | head");
console.log(output, exitCode);
