// What a program says that has no disk, no network and no permission: files in memory, in one tree, with rules.
import { CompositeBackend, CustomBackend, StateBackend, withPolicy } from "kitbag";

const kept = new Map();
const storage = {
  get: (path) => kept.get(path),
  put: (path, content) => void kept.set(path, content),
  delete: (path) => kept.delete(path),
  list: () => [...kept].map(([path, { length: size }]) => ({ path, size })),
};

export async function says() {
  const began = performance.now();
  const memory = new StateBackend();
  await memory.write("/a.txt", "memory");
  const first = performance.now() - began;
  const tree = new CompositeBackend(memory, { "/own/": new CustomBackend(storage) });
  await tree.write("/own/a.txt", "own");
  const refused = await withPolicy(tree, { readOnly: true }).write("/own/b.txt", "");
  const texts = [await tree.read("/a.txt"), await tree.read("/own/a.txt")];
  return { text: [...texts.map(({ content }) => content), refused.code].join(" "), first };
}
