// What a page says: files in memory and in IndexedDB.
import { IndexedDbBackend, StateBackend } from "kitbag";

export async function says() {
  const began = performance.now();
  const memory = new StateBackend();
  await memory.write("/a.txt", "memory");
  const first = performance.now() - began;
  const { content } = await memory.read("/a.txt");
  const kept = new IndexedDbBackend({ database: "stacks" });
  await kept.delete("/a.txt");
  const written = await kept.write("/a.txt", "database");
  if (written.error) return written.error;
  return { text: `${content} ${(await kept.read("/a.txt")).content}`, first };
}
