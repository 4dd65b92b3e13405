import { IndexedDbBackend } from "kitbag";
import { bashExecute } from "kitbag/just-bash";

const files = new IndexedDbBackend({ database: "a" });
const execute = bashExecute(files);

const run = await execute("grep -rl TODO / | sort | head");
console.log(run.output, run.exitCode);
