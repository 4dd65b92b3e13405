// delete: removes a file, or a directory with everything below it, and nothing else.

import { type Case, deletes, same } from "./subject.js";

export const deleting: Case[] = [
  {
    name: "a file is deleted alone",
    needs: deletes,
    async run(it) {
      await it.fill({ "/d/a.txt": "a", "/d/ab.txt": "ab", "/d/a.txt2": "c" });
      await it.delete("/d/a.txt");
      same("left", await it.glob("**"), ["/d/a.txt2", "/d/ab.txt"]);
      await it.refused("read", it.backend.read("/d/a.txt"), "not_found");
    },
  },
  {
    name: "what is missing cannot be deleted",
    needs: deletes,
    async run(it) {
      const said = await it.refused("delete", it.tryDelete("/no.txt"), "not_found");
      same("sentence", said, "Error: File '/no.txt' not found");
      await it.write("/a.txt", "a");
      await it.delete("/a.txt");
      await it.refused("a second time", it.tryDelete("/a.txt"), "not_found");
    },
  },
  {
    name: "a directory is deleted with all beneath it",
    needs: deletes,
    async run(it) {
      for (const path of ["/d/a.txt", "/d/e/f.txt", "/dd.txt", "/d-x/g.txt"])
        await it.write(path, "x");
      await it.delete("/d");
      same("left", await it.glob("**"), ["/d-x/g.txt", "/dd.txt"]);
      same("ls", await it.ls("/"), ["/d-x/", "/dd.txt"]);
    },
  },
  {
    name: "a deleted path can be written again",
    needs: deletes,
    async run(it) {
      await it.write("/a.txt", "old old old");
      await it.delete("/a.txt");
      await it.write("/a.txt", "new");
      same("content", await it.text("/a.txt"), "new");
      same("grep", await it.grep("old"), []);
    },
  },
  {
    name: "a deletion tells the path",
    needs: deletes,
    async run(it) {
      await it.write("/a.txt", "x");
      const answer = (await it.tryDelete("/a.txt")) as { path?: string; filesUpdate?: unknown };
      same("path", answer.path, "/a.txt");
      same("filesUpdate", answer.filesUpdate, undefined);
    },
  },
];
