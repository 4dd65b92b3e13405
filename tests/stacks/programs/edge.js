// What a Worker says: files in memory and in a bucket.
import { R2Backend, StateBackend } from "kitbag";

export default {
  async fetch(_request, env) {
    const began = performance.now();
    const memory = new StateBackend();
    await memory.write("/a.txt", "memory");
    const first = performance.now() - began;
    const bucket = new R2Backend({ bucket: env.FILES });
    const written = await bucket.write("/a.txt", "bucket");
    if (written.error) return Response.json(written.error);
    const { content } = await memory.read("/a.txt");
    return Response.json({ text: `${content} ${(await bucket.read("/a.txt")).content}`, first });
  },
};
