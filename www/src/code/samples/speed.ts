import { StateBackend } from "kitbag";

const text = new TextEncoder().encode("a needle in some text\n");
const files = new StateBackend();
files.uploadFiles(
  Array.from({ length: 10_000 }, (_, n) => [`/src/${n}.ts`, text] as [string, Uint8Array]),
);
const began = performance.now();
const { matches } = files.grep("needle");
console.log(matches?.length, performance.now() - began);
