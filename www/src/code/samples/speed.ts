import { StateBackend } from "kitbag";

const bytes = new TextEncoder().encode("a needle\n");
const files = new StateBackend();
for (let n = 0; n < 10_000; n++) {
  files.uploadFiles([[`/src/${n}.ts`, bytes]]);
}
const began = performance.now();
const { matches } = files.grep("needle");
console.log(matches?.length);
console.log(performance.now() - began);
