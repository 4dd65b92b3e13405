import { IndexedDbBackend } from "kitbag";

const files = new IndexedDbBackend({ database: "notes" });

await files.write("/counter.txt", "41");
// Two tabs may do this at once: one edit wins, the other gets an error.
const { error, code } = await files.edit("/counter.txt", "41", "42");
if (error) console.log(code, error);

files.watch(({ paths }) => console.log("another tab changed", paths));
const { usage, quota, persisted } = await files.health();
console.log(usage, quota, persisted);
