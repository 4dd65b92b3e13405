import { IndexedDbBackend } from "/pkg/dist/browser.js";
export async function smoke(kind) {
  const b = new IndexedDbBackend({ database: "smoke" + Math.random() });
  const out = [];
  const log = async (p) => out.push(await p);
  await log(b.write("/a/b.txt", "hello\nworld"));
  await log(b.write("/a/b.txt", "hello\nworld"));
  await log(b.read("/a/b.txt"));
  await log(b.edit("/a/b.txt", "world", "there"));
  await log(b.read("/a/b.txt"));
  await log(b.ls("/"));
  await log(b.ls("/a"));
  await log(b.glob("**/*.txt"));
  await log(b.grep("there"));
  await log(b.uploadFiles([["/x/é🙂.md", new TextEncoder().encode("# hi there")], ["/i.png", new Uint8Array([1,2,3])]]));
  await log(b.grep("there"));
  await log(b.downloadFiles(["/i.png", "/none"]).then((r) => r.map((x) => ({ ...x, content: x.content && [...x.content] }))));
  await log(b.delete("/a"));
  await log(b.ls("/"));
  await log(b.health());
  await log(b.readRaw("/x/é🙂.md"));
  out.push(b.capability);
  return out;
}
