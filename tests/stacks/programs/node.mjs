// What a program on a server says: files in memory and in a folder.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FilesystemBackend, StateBackend } from "kitbag";

export async function says() {
  const began = performance.now();
  const memory = new StateBackend();
  await memory.write("/a.txt", "memory");
  const first = performance.now() - began;
  const rootDir = mkdtempSync(join(tmpdir(), "kitbag-stack-"));
  try {
    const disk = new FilesystemBackend({ rootDir, virtualMode: true });
    await disk.write("/a.txt", "disk");
    const { content } = await memory.read("/a.txt");
    return { text: `${content} ${(await disk.read("/a.txt")).content}`, first };
  } finally {
    rmSync(rootDir, { recursive: true });
  }
}
