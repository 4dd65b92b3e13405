// `node tests/sync/peers/run.mjs [COUNT [FROM]]`: prints the figures of docs/sync.md, by default of 1,000
// histories.

import { ofGit } from "./git.mjs";
import { sums } from "./table.mjs";
import { ofDrive, ofKitbag, ofLastWriter } from "./ways.mjs";

const WAYS = [
  ["kitbag's `sync`", ofKitbag],
  ["the last writer wins", ofLastWriter],
  ["a cloud drive's copies", ofDrive],
  ["`git merge`, committed as it is left", () => ofGit()],
  ["`git merge -X ours`", () => ofGit("-X", "ours")],
];
const [count = 1000, from = 1] = process.argv.slice(2).map(Number);

console.log("| | edits | lost | conflicts | copies |\n|---|---:|---:|---:|---:|");
for (const [name, open] of WAYS) {
  const began = performance.now();
  const row = Object.values(await sums(open, count, from)).map((one) => one.toLocaleString("en"));
  console.log(`| ${name} | ${row.join(" | ")} |`);
  console.error(`${((performance.now() - began) / count).toFixed(1)} ms each`);
}
