// How much WebAssembly memory `StateBackend` keeps for a byte of its files, and whether it grows when
// all files are written and deleted again and again.

import { must } from "../scripts/lib/exec.mjs";
import { at } from "../scripts/lib/paths.mjs";

/** Each runs in a process of its own, because memory never shrinks. */
const CASES = {
  "source files": { of: "source", goal: 1.25 },
  "100 texts of 400 KB": { of: "large", goal: 1.05 },
  "20 rounds of writing and deleting all": { of: "rounds", goal: 1 },
  "index of source files, after 40 searches": { of: "index", goal: 0.03, digits: 3 },
  "40 MB in source files, searched": { of: "forty", goal: 64 },
};

async function run({ print }) {
  print("| what | bytes | memory, bytes | ratio | in use | goal |");
  print("|---|---:|---:|---:|---:|---:|");
  for (const [name, { of, goal, digits = 2 }] of Object.entries(CASES)) {
    const said = await must(process.execPath, [at("benches/lib/memory-run.mjs"), of]);
    const { bytes, memory, value, used } = JSON.parse(said);
    const shown = value.toFixed(digits);
    // Without what memory grew by in advance.
    const inUse = used === undefined ? "" : used.toFixed(digits);
    const mark = value <= goal ? `≤ ${goal}` : `≤ ${goal} (over)`;
    print(`| ${name} | ${bytes} | ${memory} | ${shown} | ${inUse} | ${mark} |`);
  }
}

export default { title: "Memory of StateBackend", needs: ["build", "npm:latest"], run };
